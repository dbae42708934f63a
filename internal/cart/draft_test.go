package cart

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/testenv"
)

var (
	morning = time.Date(2026, 2, 26, 1, 0, 0, 0, time.UTC)
	noon    = morning.Add(4 * time.Hour)
)

// basket returns a cart of member 7 with dishes 4 and 5.
func basket() Cart {
	return Cart{ID: 3, UserID: 7, BranchID: 1, Version: 9, UpdatedAt: morning, Lines: []Line{
		{ID: 40, DishID: 4, Quantity: 2, Price: 65000, Version: 3}, {ID: 50, DishID: 5, Quantity: 20, Price: 1000, Version: 1},
	}}
}

func add(dish, quantity, price, branch int64) Change {
	return Change{UserID: 7, Add: &Add{DishID: dish, Quantity: quantity, Price: price, BranchID: branch}}
}

// large is a choice of options.
const large = `[{"o":17,"q":1}]`

func set(line, quantity int64) Change { return Change{UserID: 7, Set: &Set{line, quantity}} }

func TestDraft_Apply(t *testing.T) {
	for name, c := range map[string]struct {
		change  Change
		dish    int64
		want    func(*Cart) // the change to basket
		removed []int64
	}{
		"another dish": {add(6, 3, 500, 0), 6, func(c *Cart) {
			c.Lines = append(c.Lines, Line{DishID: 6, Quantity: 3, Price: 500, Version: 1})
		}, nil},
		"the same dish again raises it and shows today's price": {add(4, 1, 70000, 0), 4, func(c *Cart) {
			c.Lines[0] = Line{ID: 40, DishID: 4, Quantity: 3, Price: 70000, Version: 4}
		}, nil},
		"the same dish with options is another line": {
			Change{UserID: 7, Add: &Add{DishID: 4, Quantity: 1, Price: 70000, Options: large}}, 4, func(c *Cart) {
				c.Lines = append(c.Lines, Line{DishID: 4, Quantity: 1, Price: 70000, Version: 1, Options: large})
			}, nil,
		},
		"at another branch": {add(4, 1, 65000, 2), 4, func(c *Cart) {
			c.BranchID, c.Lines[0].Quantity, c.Lines[0].Version = 2, 3, 4
		}, nil},
		"a quantity":    {set(50, 1), 5, func(c *Cart) { c.Lines[1].Quantity, c.Lines[1].Version = 1, 2 }, nil},
		"the same one":  {set(50, 20), 5, nil, nil},
		"a line goes":   {Change{UserID: 7, Remove: 40}, 0, func(c *Cart) { c.Lines = c.Lines[1:] }, []int64{40}},
		"everything":    {Change{UserID: 7, Empty: true}, 0, func(c *Cart) { c.Lines = c.Lines[:0] }, []int64{50, 40}},
		"nothing asked": {Change{UserID: 7}, 0, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d, want := NewDraft(basket()), basket()
			of, err := d.Apply(c.change, noon)
			if err != nil || of.DishID != c.dish {
				t.Errorf("Apply concerns %+v, %v, want dish %d", of, err, c.dish)
			}
			if c.want != nil {
				c.want(&want)
				want.Version, want.UpdatedAt = 10, noon
			}
			if diff := cmp.Diff(want, d.Cart); diff != "" || d.Changed() != (c.want != nil) {
				t.Errorf("dirty %t (-want +got):\n%s", d.Changed(), diff)
			}
			testenv.Equal(t, c.removed, ids(d.Removed))
			if diff := cmp.Diff(basket(), d.Loaded); diff != "" {
				t.Errorf("loaded cart after a change of the draft (-want +got):\n%s", diff)
			}
		})
	}
}

func ids(lines []Line) (all []int64) {
	for _, l := range lines {
		all = append(all, l.ID)
	}
	return all
}

// A refused change leaves the cart as it is.
func TestDraft_Apply_refuses(t *testing.T) {
	full := basket()
	full.Lines = nil
	for i := range int64(MaxLines) {
		full.Lines = append(full.Lines, Line{ID: i + 1, DishID: i + 1, Quantity: 1, Version: 1})
	}
	heavy := basket()
	for i := range int64(4) {
		heavy.Lines = append(heavy.Lines, Line{ID: 60 + i, DishID: 6 + i, Quantity: 19, Version: 1})
	}
	for name, c := range map[string]struct {
		cart   Cart
		change Change
		want   error
	}{
		"21 of a dish":          {basket(), set(40, 21), ErrQuantity},
		"one more than 20":      {basket(), add(5, 1, 1000, 0), ErrQuantity},
		"21 at once":            {basket(), add(6, 21, 1000, 2), ErrQuantity},
		"none":                  {basket(), set(40, 0), ErrQuantity},
		"less than none":        {basket(), add(4, -1, 1000, 0), ErrQuantity},
		"a foreign line":        {basket(), set(41, 1), ErrLine},
		"a line without an id":  {basket(), set(0, 1), ErrLine},
		"no line to take out":   {basket(), Change{UserID: 7, Remove: 41}, ErrLine},
		"the 51st dish":         {full, add(99, 1, 1000, 0), ErrFull},
		"the 101st unit":        {heavy, add(10, 3, 1000, 0), ErrUnits},
		"the 101st by quantity": {heavy, set(40, 5), ErrUnits},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDraft(c.cart)
			testenv.ErrorIs(t, c.want, testenv.Err(d.Apply(c.change, noon)))
			if diff := cmp.Diff(c.cart, d.Cart); diff != "" || d.Changed() || len(d.ChangedLines()) != 0 {
				t.Errorf("cart after a refused change (-want +got):\n%s", diff)
			}
		})
	}
	d := NewDraft(full)
	if _, err := d.Apply(add(50, 1, 1000, 0), noon); err != nil || d.Lines[49].Quantity != 2 {
		t.Errorf("a full cart refused more of a dish that it has: %v", err)
	}
	d = NewDraft(heavy)
	if _, err := d.Apply(add(10, 2, 1000, 0), noon); err != nil {
		t.Errorf("the 100th unit: %v", err)
	}
}

// A cart that exceeds the current limits can be made smaller.
func TestDraft_Apply_shrinks(t *testing.T) {
	c := basket()
	for i := range int64(6) {
		c.Lines = append(c.Lines, Line{ID: 60 + i, DishID: 6 + i, Quantity: 20, Version: 1})
	}
	if _, err := NewDraft(c).Apply(set(60, 19), noon); err != nil {
		t.Error(err)
	}
}

// After any batch, a dish is in one line, the limits hold, the version has risen by one, and exactly the changes are to
// be written.
func TestDraft_batches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := basket()
		d := NewDraft(c)
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			_, _ = d.Apply(drawChange(t, d), noon) // TestDraft_Apply_refuses covers refusals
		}
		dishes := map[int64]bool{}
		var units int64
		for _, l := range d.Lines {
			if dishes[l.DishID] || l.Quantity < 1 || l.Quantity > MaxQuantity {
				t.Fatalf("dish %d stands there twice, or %d times", l.DishID, l.Quantity)
			}
			dishes[l.DishID], units = true, units+l.Quantity
			index := slices.IndexFunc(c.Lines, func(o Line) bool { return o.ID == l.ID })
			touched := slices.ContainsFunc(d.ChangedLines(), func(o Line) bool { return o.DishID == l.DishID })
			switch {
			case index < 0 && (l.ID != 0 || l.Version != 1 || !touched):
				t.Fatalf("new: %+v, to be written: %t", l, touched)
			case index >= 0 && l == c.Lines[index] && touched && l.Version == c.Lines[index].Version:
				t.Fatalf("%+v is written, and nothing has changed", l)
			case index >= 0 && l.Version != c.Lines[index].Version+one(touched):
				t.Fatalf("%+v was %+v", l, c.Lines[index])
			}
		}
		for _, l := range d.Removed {
			if l.ID == 0 || slices.Contains(ids(d.Lines), l.ID) {
				t.Fatalf("%+v is to be deleted", l)
			}
		}
		if units > MaxUnits || len(d.Lines) > MaxLines || d.Version != c.Version+one(d.Changed()) {
			t.Fatalf("%d units, %d lines, version %d", units, len(d.Lines), d.Version)
		}
	})
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

func drawChange(t *rapid.T, d *Draft) Change {
	dish := rapid.Int64Range(4, 11)
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		return Change{UserID: 7, Empty: true}
	case 1, 2:
		return Change{UserID: 7, Remove: drawLine(t, d)}
	case 3, 4:
		return set(drawLine(t, d), rapid.Int64Range(0, 21).Draw(t, "quantity"))
	}
	return add(dish.Draw(t, "dish"), rapid.Int64Range(0, 21).Draw(t, "quantity"), 1000, rapid.Int64Range(0, 2).Draw(t, "branch"))
}

func drawLine(t *rapid.T, d *Draft) int64 {
	if len(d.Lines) == 0 {
		return 40
	}
	return d.Lines[rapid.IntRange(0, len(d.Lines)-1).Draw(t, "line")].ID
}
