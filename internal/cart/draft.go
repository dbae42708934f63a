package cart

import (
	"slices"
	"time"
)

// Draft is a cart under its lock, with what a batch of changes does to it. It does no I/O.
type Draft struct {
	Cart
	Was     Cart    // as it was loaded
	Removed []Line  // lines to be deleted
	touched []int64 // dishes of lines that have changed
}

// NewDraft begins with a cart as it is.
func NewDraft(c Cart) *Draft {
	d := &Draft{Cart: c, Was: c}
	d.Lines = slices.Clone(c.Lines)
	return d
}

// Dirty tells whether anything has changed.
func (d *Draft) Dirty() bool { return d.Version != d.Was.Version }

// Touched gives the lines that are new or changed, in the order of the cart.
func (d *Draft) Touched() []Line {
	return slices.DeleteFunc(slices.Clone(d.Lines), func(l Line) bool { return !slices.Contains(d.touched, l.DishID) })
}

// Apply makes one change. It gives the dish that it was about, and the fault of a change that cannot be made, which
// leaves the cart as it is.
func (d *Draft) Apply(c Change, now time.Time) (dish int64, err error) {
	switch {
	case c.Add != nil:
		return c.Add.DishID, d.add(*c.Add, now)
	case c.Set != nil:
		i := d.find(c.Set.Line)
		if i < 0 {
			return 0, ErrLine
		}
		if err := d.fits(c.Set.Quantity, d.Lines[i].Quantity); err != nil {
			return 0, err
		}
		if d.Lines[i].Quantity != c.Set.Quantity {
			d.Lines[i].Quantity = c.Set.Quantity
			d.touch(i, now)
		}
		return d.Lines[i].DishID, nil
	case c.Remove != 0:
		i := d.find(c.Remove)
		if i < 0 {
			return 0, ErrLine
		}
		d.remove(i, now)
	case c.Empty:
		for len(d.Lines) > 0 {
			d.remove(len(d.Lines)-1, now)
		}
	}
	return 0, nil
}

func (d *Draft) add(a Add, now time.Time) error {
	i := slices.IndexFunc(d.Lines, func(l Line) bool { return l.DishID == a.DishID })
	var had int64
	if i >= 0 {
		had = d.Lines[i].Quantity
	}
	if err := checkQuantity(a.Quantity); err != nil {
		return err
	}
	quantity := had + a.Quantity
	if err := d.fits(quantity, had); err != nil {
		return err
	}
	switch {
	case i >= 0:
	case len(d.Lines) >= MaxLines:
		return ErrFull
	default:
		i = len(d.Lines)
		d.Lines = append(d.Lines, Line{DishID: a.DishID})
	}
	d.Lines[i].Quantity, d.Lines[i].Price = quantity, a.Price
	if a.BranchID != 0 {
		d.BranchID = a.BranchID
	}
	d.touch(i, now)
	return nil
}

// fits checks a dish's new quantity, alone and with the others. A cart that holds too much already may become smaller.
func (d *Draft) fits(quantity, had int64) error {
	if err := checkQuantity(quantity); err != nil {
		return err
	}
	units := quantity - had
	for _, l := range d.Lines {
		units += l.Quantity
	}
	if units > MaxUnits && quantity > had {
		return ErrUnits
	}
	return nil
}

// find gives the place of a line by its id; -1 when there is none. Lines that this batch has added have no id yet.
func (d *Draft) find(line int64) int {
	return slices.IndexFunc(d.Lines, func(l Line) bool { return l.ID == line && line != 0 })
}

func (d *Draft) touch(i int, now time.Time) {
	l := &d.Lines[i]
	if !slices.Contains(d.touched, l.DishID) { // one version for one transaction
		d.touched = append(d.touched, l.DishID)
		l.Version++
	}
	d.changed(now)
}

func (d *Draft) remove(i int, now time.Time) {
	if d.Lines[i].ID != 0 {
		d.Removed = append(d.Removed, d.Lines[i])
	}
	d.touched = slices.DeleteFunc(d.touched, func(dish int64) bool { return dish == d.Lines[i].DishID })
	d.Lines = slices.Delete(d.Lines, i, i+1)
	d.changed(now)
}

// Begin has a cart that was just made written, whatever else happens to it.
func (d *Draft) Begin(now time.Time) { d.changed(now) }

func (d *Draft) changed(now time.Time) {
	d.Version, d.UpdatedAt = d.Was.Version+1, now
}
