package ordering

import (
	"testing"
	"testing/synctest"
	"time"

	_ "comanda/internal/sqldb/sqldbtest"

	"pgregory.net/rapid"
)

func TestBubble(t *testing.T) {
	synctest.Test(t, func(*testing.T) { time.Sleep(time.Hour) })
	rapid.Check(t, func(t *rapid.T) { t.Skip("this case says nothing") })
	if n := 1; n > 1 {
		t.Errorf("n = %d, want 1", n)
	}
}
