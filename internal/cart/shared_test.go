package cart

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"comanda/internal/testenv"

	"pgregory.net/rapid"
)

// table returns a shared cart with a line of An (two of dish 4), one of Binh (twenty of dish 5), and a tombstone.
func table() *SharedDraft {
	d := NewSharedDraft(Shared{VisitID: "v", Version: 9, Added: 3, Lines: []SharedLine{
		{ID: "an-1", GuestHash: "an", ItemID: 11, DishID: 4, Quantity: 2, CreatedAt: morning},
		{ID: "binh-1", GuestHash: "binh", ItemID: 12, DishID: 5, Quantity: 20, Notes: "hot", CreatedAt: morning},
	}})
	d.AddTombstone("an-0")
	return d
}

// text formats a cart in short: each line's id, guest, item, quantity and note.
func (c Shared) text() string {
	lines := make([]string, len(c.Lines))
	for i, l := range c.Lines {
		lines[i] = fmt.Sprint(l.ID, " ", l.GuestHash, " ", l.ItemID, "×", l.Quantity, l.Notes)
	}
	return strings.Join(lines, ", ")
}

func TestSharedDraft_Apply(t *testing.T) {
	const both = "an-1 an 11×2, binh-1 binh 12×20hot"
	for name, c := range map[string]struct {
		line    SharedLine
		want    string
		err     error
		written string // ids of the lines to write, those of tombstones with a minus
	}{
		"a new line":             {SharedLine{ID: "an-2", GuestHash: "an", ItemID: 11, Quantity: 1}, both + ", an-2 an 11×1", nil, "an-2"},
		"more":                   {SharedLine{ID: "an-1", GuestHash: "an", ItemID: 11, Quantity: 3}, "an-1 an 11×3, binh-1 binh 12×20hot", nil, "an-1"},
		"a note":                 {SharedLine{ID: "an-1", GuestHash: "an", ItemID: 11, Quantity: 2, Notes: "no onion"}, "an-1 an 11×2no onion, binh-1 binh 12×20hot", nil, "an-1"},
		"the same again":         {SharedLine{ID: "an-1", GuestHash: "an", ItemID: 11, Quantity: 2}, both, nil, ""},
		"another guest's":        {SharedLine{ID: "binh-1", GuestHash: "an", ItemID: 12, Quantity: 1}, "an-1 an 11×2, binh-1 binh 12×1", nil, "binh-1"},
		"of another dish":        {SharedLine{ID: "an-1", GuestHash: "an", ItemID: 12, Quantity: 1}, both, ErrChanged, ""},
		"removed or ordered":     {SharedLine{ID: "an-0", GuestHash: "an", ItemID: 11, Quantity: 1}, both, ErrChanged, ""},
		"too many of a line":     {SharedLine{ID: "an-1", GuestHash: "an", ItemID: 11, Quantity: 21}, both, ErrQuantity, ""},
		"fewer than none":        {SharedLine{ID: "an-1", GuestHash: "an", ItemID: 11, Quantity: -1}, both, ErrQuantity, ""},
		"taken out":              {SharedLine{ID: "an-1"}, "binh-1 binh 12×20hot", nil, "-an-1"},
		"another guest's, out":   {SharedLine{ID: "binh-1"}, "an-1 an 11×2", nil, "-binh-1"},
		"taken out twice":        {SharedLine{ID: "an-0"}, both, nil, ""},
		"taken out, never added": {SharedLine{ID: "an-9"}, both, nil, "-an-9"},
	} {
		t.Run(name, func(t *testing.T) {
			d := table()
			err := d.Apply(c.line, noon)
			if !errors.Is(err, c.err) || d.text() != c.want {
				t.Errorf("Apply = %q, %v, want %q, %v", d.text(), err, c.want, c.err)
			}
			var written []string
			for _, l := range d.Changes() {
				id := l.ID
				if l.Quantity == 0 {
					id = "-" + id
				}
				written = append(written, id)
			}
			if got := strings.Join(written, " "); got != c.written || d.Version != 9+one(got != "") {
				t.Errorf("writes %q as version %d", got, d.Version)
			}
		})
	}
}

// The limits count for the whole table, so that one order can take everything.
func TestSharedDraft_limits(t *testing.T) {
	add := func(d *SharedDraft, i int, quantity int64) error {
		return d.Apply(SharedLine{ID: fmt.Sprint("line-", i), GuestHash: fmt.Sprint(i % 3), ItemID: 11, Quantity: quantity}, noon)
	}
	d := NewSharedDraft(Shared{VisitID: "v"})
	for i := range MaxLines {
		if err := add(d, i, 2); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := add(d, MaxLines, 1); !errors.Is(err, ErrUnits) {
		t.Errorf("unit %d: error %v, want ErrUnits", MaxUnits+1, err)
	}
	if err := add(d, 0, 1); err != nil {
		t.Error("one less:", err)
	}
	if err := add(d, MaxLines, 1); !errors.Is(err, ErrFull) {
		t.Errorf("line %d: error %v, want ErrFull", MaxLines+1, err)
	}
	worn := NewSharedDraft(Shared{VisitID: "v", Added: maxAdded})
	if err := add(worn, 1, 1); !errors.Is(err, ErrMaxAdded) {
		t.Errorf("a line after %d: error %v, want ErrMaxAdded", maxAdded, err)
	}
	if err := worn.Apply(SharedLine{ID: "line-2"}, noon); err != nil || len(worn.Changes()) != 0 {
		t.Errorf("a tombstone after %d lines: %v, %v", maxAdded, worn.Changes(), err)
	}
}

func TestSharedDraft_Take(t *testing.T) {
	an, binh := SharedLine{ID: "an-1", ItemID: 11, Quantity: 2}, SharedLine{ID: "binh-1", ItemID: 12, Quantity: 20, Notes: "hot"}
	with := func(l SharedLine, change func(*SharedLine)) SharedLine {
		change(&l)
		return l
	}
	for name, c := range map[string]struct {
		lines []SharedLine
		has   bool
		rest  string
	}{
		"mine":             {[]SharedLine{an}, true, "binh-1 binh 12×20hot"},
		"everything":       {[]SharedLine{binh, an}, true, ""},
		"nothing":          {nil, true, "an-1 an 11×2, binh-1 binh 12×20hot"},
		"one twice":        {[]SharedLine{an, an}, false, ""},
		"another quantity": {[]SharedLine{binh, with(an, func(l *SharedLine) { l.Quantity = 1 })}, false, ""},
		"another note":     {[]SharedLine{with(an, func(l *SharedLine) { l.Notes = "hot" })}, false, ""},
		"another dish":     {[]SharedLine{with(an, func(l *SharedLine) { l.ItemID = 12 })}, false, ""},
		"ordered before":   {[]SharedLine{with(an, func(l *SharedLine) { l.ID = "an-0" })}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := table()
			if d.Has(c.lines) != c.has {
				t.Fatalf("has them: %t", !c.has)
			}
			if !c.has {
				return
			}
			if d.Take(c.lines); d.text() != c.rest {
				t.Errorf("the rest: %q", d.text())
			}
			for _, l := range c.lines { // the phone repeats the request that added it
				l.GuestHash = "an"
				if err := d.Apply(l, noon); !errors.Is(err, ErrChanged) {
					t.Errorf("%s comes back: error %v, want ErrChanged", l.ID, err)
				}
			}
		})
	}
}

// Random sequences of changes and orders, in random transactions, leave the cart that a map of lines predicts. No line
// is ordered twice, and no removed line reappears.
func TestSharedDraft_model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored, gone, ordered := Shared{VisitID: "v"}, map[string]bool{}, map[string]int{}
		model := map[string]SharedLine{}
		for range rapid.IntRange(1, 12).Draw(t, "transactions") {
			d := NewSharedDraft(stored)
			for id := range gone {
				d.AddTombstone(id)
			}
			for range rapid.IntRange(1, 5).Draw(t, "changes") {
				stepShared(t, d, model, gone, ordered)
			}
			if changed := len(d.Changes()) > 0; d.Version != stored.Version+one(changed) {
				t.Fatalf("version %d after %d, changed: %t", d.Version, stored.Version, changed)
			}
			stored = d.Shared
			checkShared(t, stored, model)
		}
		for id, n := range ordered {
			if n > 1 {
				t.Fatalf("%s was ordered %d times", id, n)
			}
		}
	})
}

// stepShared applies one random change or order to a draft and to the model.
func stepShared(t *rapid.T, d *SharedDraft, model map[string]SharedLine, gone map[string]bool, ordered map[string]int) {
	id := fmt.Sprint("line-", rapid.IntRange(0, 9).Draw(t, "line"))
	stored, found := model[id]
	if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
		lines := []SharedLine{{ID: id, ItemID: stored.ItemID, Quantity: rapid.Int64Range(1, 3).Draw(t, "seen")}}
		has := found && stored.Quantity == lines[0].Quantity
		if d.Has(lines) != has {
			t.Fatalf("an order of %+v in %+v: %t", lines, d.Lines, !has)
		}
		if has {
			d.Take(lines)
			delete(model, id)
			gone[id] = true
			ordered[id]++
		}
		return
	}
	l := SharedLine{
		ID: id, GuestHash: rapid.SampledFrom([]string{"an", "binh"}).Draw(t, "guest"), ItemID: rapid.Int64Range(11, 12).Draw(t, "item"),
		Quantity: rapid.Int64Range(0, 3).Draw(t, "quantity"),
	}
	err := d.Apply(l, noon)
	switch {
	case l.Quantity == 0: // even before the line is added
		delete(model, id)
		gone[id] = true
	case gone[id] || found && stored.ItemID != l.ItemID:
		if !errors.Is(err, ErrChanged) {
			t.Fatalf("Apply(%+v): error %v, want ErrChanged", l, err)
		}
		return
	case found:
		stored.Quantity = l.Quantity
		model[id] = stored
	default:
		model[id] = l
	}
	if err != nil {
		t.Fatalf("Apply(%+v): %v", l, err)
	}
}

// checkShared compares a cart with the model.
func checkShared(t *rapid.T, c Shared, model map[string]SharedLine) {
	if len(c.Lines) != len(model) {
		t.Fatalf("%d lines, want %d", len(c.Lines), len(model))
	}
	for _, l := range c.Lines {
		want := model[l.ID]
		want.CreatedAt = noon
		testenv.Equal(t, want, l)
	}
}
