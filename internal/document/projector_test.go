package document

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"comanda/internal/queue"
	"comanda/internal/testenv"
)

// A document that was only deleted is written without reading its row. If anything else happened to it in the same
// run, the row is read, and the deletion's version is kept as a fallback.
func TestNewProjection(t *testing.T) {
	claim := func(e *Entity, dead map[string]int64, ids ...string) Claimed {
		return Claimed{ID: "row", Entity: e, IDs: ids, Deleted: dead}
	}
	for _, c := range []struct {
		name       string
		claimed    []Claimed
		read, gone string
	}{
		{"changed", []Claimed{claim(Cart, nil, "1", "2")}, "cart:1 cart:2", ""},
		{"deleted", []Claimed{claim(Cart, map[string]int64{"1": 4}, "1")}, "", "cart:1@4"},
		{"deleted twice", []Claimed{
			claim(Cart, map[string]int64{"1": 4}, "1"), claim(Cart, map[string]int64{"1": 9}, "1"),
		}, "", "cart:1@9"},
		{"one of two", []Claimed{claim(Cart, map[string]int64{"1": 4}, "1", "2")}, "cart:2", "cart:1@4"},
		{"changed, then deleted", []Claimed{claim(Cart, nil, "1"), claim(Cart, map[string]int64{"1": 4}, "1")}, "cart:1", ""},
		{"deleted, then there again", []Claimed{claim(Cart, map[string]int64{"1": 4}, "1"), claim(Cart, nil, "1")}, "cart:1", ""},
		{"another entity's id", []Claimed{
			claim(Cart, map[string]int64{"1": 4}, "1"), claim(CartDetail, nil, "1"),
		}, "cartDetail:1", "cart:1@4"},
		{"no key", []Claimed{claim(Cart, map[string]int64{"": 4}, "")}, "", ""},
		{"of another release", []Claimed{{ID: "row"}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newProjection(c.claimed)
			var read, gone []string
			for _, r := range w.refs {
				read = append(read, r.Entity.Name+":"+r.ID)
			}
			slices.SortFunc(w.deleted, func(a, b Document) int { return cmp.Compare(a.ID, b.ID) })
			for _, d := range w.deleted {
				if !d.Deleted {
					t.Errorf("deleted document = %+v, want Deleted", d)
				}
				gone = append(gone, fmt.Sprintf("%s:%s@%d", d.Entity.Name, d.ID, d.Version))
			}
			if strings.Join(read, " ") != c.read || strings.Join(gone, " ") != c.gone {
				t.Errorf("reads %q, writes %q", read, gone)
			}
		})
	}
}

// busy is an outbox that is never empty and a slow Redis. Each row deletes some carts.
type busy struct {
	now      time.Time
	each     int           // number of documents of a row
	takes    time.Duration // duration of a write
	claimed  int
	settled  int
	released int
	applied  int // number of documents
	most     int // largest number of documents in one write
}

func (b *busy) Claim(_ context.Context, _, _ time.Time, limit int) ([]Claimed, error) {
	rows := make([]Claimed, limit)
	for i := range rows {
		c := Claimed{ID: strconv.Itoa(b.claimed), Entity: Cart, Deleted: map[string]int64{}}
		for n := range b.each {
			id := strconv.Itoa(1 + b.claimed*b.each + n)
			c.IDs, c.Deleted[id] = append(c.IDs, id), 2
		}
		rows[i] = c
		b.claimed++
	}
	return rows, nil
}

func (b *busy) DeleteQueued(_ context.Context, rows []string) error {
	b.settled += len(rows)
	return nil
}

func (b *busy) RecordFailures(_ context.Context, _ time.Time, released ...queue.Failure) error {
	b.released += len(released)
	return nil
}

func (b *busy) Up() bool                                   { return true }
func (b *busy) ResetVersions(context.Context, []Ref) error { return nil }

func (b *busy) Apply(_ context.Context, docs []Document) (ApplyResult, error) {
	b.now = b.now.Add(b.takes)
	b.applied += len(docs)
	b.most = max(b.most, len(docs))
	return ApplyResult{}, nil
}

// A run ends by itself even if many rows are waiting, long before the loop's deadline and before the claim on its rows
// expires. It releases the rows that it has not projected, so that other processes need not wait and none is projected
// twice.
func TestProjector_RunOnce_ends(t *testing.T) {
	for _, c := range []struct {
		name  string
		each  int
		takes time.Duration
	}{
		{"quick, small rows", 1, 20 * time.Millisecond},
		{"slow, small rows", 1, 900 * time.Millisecond},
		{"slow, large rows", 300, 900 * time.Millisecond},
		{"slow, one row is a batch", 2 * batchSize, 900 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &busy{now: time.UnixMilli(1e12), each: c.each, takes: c.takes}
			begun := b.now
			p := &Projector{Outbox: b, Writer: b, Now: func() time.Time { return b.now }}
			testenv.NoError(t, p.RunOnce(t.Context()))
			if took := b.now.Sub(begun); took < runBudget || took > claimDuration/2 {
				t.Errorf("it took %v", took)
			}
			if b.settled == 0 || b.settled+b.released != b.claimed {
				t.Errorf("%d rows were claimed, %d settled, %d given back", b.claimed, b.settled, b.released)
			}
			if b.applied != b.settled*c.each || b.most > batchSize {
				t.Errorf("%d rows of %d documents, written were %d, up to %d at once", b.settled, c.each, b.applied, b.most)
			}
		})
	}
}

// A clock that is set back does not make a run longer.
func TestProjector_RunOnce_clock_set_back(t *testing.T) {
	b := &busy{now: time.UnixMilli(1e12), each: 1, takes: -time.Hour}
	p := &Projector{Outbox: b, Writer: b, Now: func() time.Time { return b.now }}
	testenv.NoError(t, p.RunOnce(t.Context()))
	testenv.Equal(t, claimBatch, b.settled)
}

// A run takes a bounded number of changed documents, and the next runs take the rest.
func TestProjector_takeTouched(t *testing.T) {
	p := &Projector{}
	for i := range 2*maxTouchedPerRun + 5 {
		p.Touch(Ref{Cart, strconv.Itoa(i)})
	}
	seen := map[Ref]bool{}
	for _, want := range []int{maxTouchedPerRun, maxTouchedPerRun, 5, 0} {
		refs := p.takeTouched()
		for _, r := range refs {
			seen[r] = true
		}
		testenv.Equal(t, want, len(refs))
	}
	testenv.Equal(t, 2*maxTouchedPerRun+5, len(seen))
}

// Documents of changed rows are passed on after they were written, and before their rows leave the outbox. After a failure the
// rows stay.
func TestProjector_Changed(t *testing.T) {
	b := &busy{now: time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC), each: 1, takes: runBudget / 2}
	var seen int
	var broken error
	p := &Projector{
		Outbox: b, Writer: b, Now: func() time.Time { return b.now },
		Changed: func(_ context.Context, docs []Document) error {
			if b.settled > 0 && seen == 0 || b.applied < seen+len(docs) {
				t.Errorf("%d documents are passed on after %d were written and %d settled", len(docs), b.applied, b.settled)
			}
			seen += len(docs)
			return broken
		},
	}
	testenv.NoError(t, p.RunOnce(t.Context()))
	if seen == 0 || seen != b.applied || b.settled != seen {
		t.Errorf("%d of %d written documents were passed on, %d settled", seen, b.applied, b.settled)
	}
	settled := b.settled
	broken = context.DeadlineExceeded
	if err := p.RunOnce(t.Context()); err == nil || b.settled != settled || b.released == 0 {
		t.Errorf("after a failure: error %v, %d rows settled and %d released", err, b.settled-settled, b.released)
	}
}

// A busy process spends at most a tenth of the time on documents that may wait, however long a write takes, and all of it once
// it is not busy any more. A clock that is set back ends a rest.
func TestProjector_Busy(t *testing.T) {
	for _, takes := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond} {
		b := &busy{now: time.UnixMilli(1e12), each: 100, takes: takes}
		begun, working, isBusy := b.now, time.Duration(0), true
		p := &Projector{Outbox: b, Writer: b, Now: func() time.Time { return b.now }, Busy: func() bool { return isBusy }}
		run := func() {
			t.Helper()
			from := b.now
			testenv.NoError(t, p.RunOnce(t.Context()))
			working += b.now.Sub(from)
		}
		for b.now.Sub(begun) < time.Minute {
			run()
			b.now = b.now.Add(5 * time.Millisecond)
		}
		share := float64(working) / float64(b.now.Sub(begun))
		if share > 0.101 || share < 0.02 || b.released > 0 {
			t.Errorf("writes of %v take %.3f of the time, %d rows were released", takes, share, b.released)
		}
		run()
		settled := b.settled
		b.now = b.now.Add(-time.Hour)
		if run(); b.settled == settled {
			t.Error("a clock that was set back lengthens the rest")
		}
		settled, isBusy = b.settled, false
		if run(); b.settled < settled+2*busyClaim {
			t.Errorf("%d rows were projected while the process was not busy", b.settled-settled)
		}
	}
}
