package keyaudit

import (
	"errors"
	"testing"

	"comanda/internal/redisdb/redisdbtest"
)

// A limited audit checks all keys or none: checking half of them would report false orphans.
func TestRun_most(t *testing.T) {
	db := redisdbtest.Embedded(t)
	fillValid(t, db, 9)
	o := withoutPause()
	all := mustRun(t, db, o)
	o.MaxKeys = all.Keys - 1
	if r, err := Run(t.Context(), db, o); !errors.Is(err, ErrTooMany) || r.Keys != 0 {
		t.Errorf("%d keys, %v", r.Keys, err)
	}
	o.MaxKeys++
	if r := mustRun(t, db, o); r.Keys != all.Keys || !r.Clean {
		t.Errorf("Run = %+v, want %d keys and no finding", r, all.Keys)
	}
}
