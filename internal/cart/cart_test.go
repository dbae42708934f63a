package cart

import (
	"slices"
	"testing"
)

func TestCart_Equal(t *testing.T) {
	seen := Cart{ID: 4, UserID: 7, Version: 3, Lines: []Line{
		{ID: 8, DishID: 101, Quantity: 2, Price: 1000, Version: 1}, {ID: 9, DishID: 102, Quantity: 1, Price: 500, Version: 2},
	}}
	for name, c := range map[string]struct {
		change func(*Cart)
		same   bool
	}{
		"nothing":           {func(*Cart) {}, true},
		"read in any order": {func(c *Cart) { slices.Reverse(c.Lines) }, true},
		"another cart":      {func(c *Cart) { c.ID++ }, false},
		"changed":           {func(c *Cart) { c.Version++ }, false},
		"a line imported":   {func(c *Cart) { c.Lines[1].Version++ }, false},
		"a line moved here": {func(c *Cart) { c.Lines = append(c.Lines, Line{ID: 10, DishID: 103, Quantity: 1, Version: 1}) }, false},
		"a line moved away": {func(c *Cart) { c.Lines = c.Lines[:1] }, false},
		"two lines changed places": {func(c *Cart) {
			c.Lines[0].DishID, c.Lines[1].DishID = c.Lines[1].DishID, c.Lines[0].DishID
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := seen
			now.Lines = slices.Clone(seen.Lines)
			c.change(&now)
			if now.Equal(seen) != c.same {
				t.Errorf("the same: %t", !c.same)
			}
		})
	}
}
