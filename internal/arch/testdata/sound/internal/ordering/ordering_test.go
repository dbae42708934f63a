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
}
