package catalog

import "testing"

// A dish is sold under its first offered item, or under its first item if none is offered.
func TestEdition_OfDish(t *testing.T) {
	e := NewEdition(5, 1, nil, []Item{
		{ID: 11, DishID: 4, Active: true}, {ID: 12, DishID: 4, Active: true}, {ID: 13, DishID: 5}, {ID: 14, DishID: 5, Active: true},
		{ID: 15, DishID: 6}, {ID: 16, DishID: 6}, {ID: 17, DishID: 7, Active: true}, {ID: 18, DishID: 7},
	})
	for dish, want := range map[int64]int64{4: 11, 5: 14, 6: 15, 7: 17, 8: 0, 0: 0, 11: 0} {
		if it, ok := e.OfDish(dish); it.ID != want || ok != (want != 0) {
			t.Errorf("dish %d is item %d, %t; want %d", dish, it.ID, ok, want)
		}
	}
	if _, ok := NewEdition(1, 1, nil, nil).OfDish(4); ok {
		t.Error("an empty menu has a dish")
	}
}
