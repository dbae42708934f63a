package documentredis

import (
	"errors"
	"testing"
	"time"

	"comanda/internal/document"
)

// The size of a list is counted once and then follows the changes, until its time is over, a batch fails, or two
// batches overlap.
func TestListSizes(t *testing.T) {
	e := document.Entities[0]
	sizes := listSizes{known: map[*document.Entity]*listSize{}}
	ask := func(n int64) {
		t.Helper()
		run := sizes.begin()
		if !run.due(e) {
			t.Error("the size is not asked for")
		}
		run.counted(e, n)
		sizes.known[e].pause = time.Hour
		run.end([]*document.Entity{e}, nil)
	}
	ask(5)
	run := sizes.begin()
	if run.due(e) || run.changed(e, 3, 1) != 7 {
		t.Error("the size is not followed")
	}
	run.end([]*document.Entity{e}, errors.New("broken"))
	ask(9)

	first := sizes.begin()
	second := sizes.begin()
	if first.due(e) || !second.due(e) {
		t.Error("of two batches at the same time, the second must ask")
	}
	second.end([]*document.Entity{e}, nil)
	if n := first.changed(e, 1, 0); n != 0 {
		t.Errorf("a size that another batch has forgotten is %d", n)
	}
	first.end([]*document.Entity{e}, nil)
	ask(12)

	sizes.known[e].pause = 0
	ask(13)
}
