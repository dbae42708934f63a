package audit

import (
	"errors"
	"testing"

	"comanda/internal/redisdb/redisdbtest"
)

// An audit that is bounded looks at everything or at nothing: half of the keys would tell of lost entries that are there.
func TestRun_most(t *testing.T) {
	db := redisdbtest.Embedded(t)
	sound(t, db, 9)
	o := unhurried()
	all := mustRun(t, db, o)
	o.MaxKeys = all.Keys - 1
	if r, err := Run(t.Context(), db, o); !errors.Is(err, ErrTooMany) || r.Keys != 0 {
		t.Errorf("%d keys, %v", r.Keys, err)
	}
	o.MaxKeys++
	if r := mustRun(t, db, o); r.Keys != all.Keys || !r.Clean {
		t.Errorf("%+v", r)
	}
}
