package catalog

// DishSale is what a branch has of a dish and whether it can sell it now. It is part of the dish's document.
type DishSale struct {
	Stock     *int64 `json:"stock"` // units left; nil without a limit, and while the dish is not offered
	SoldToday int64  `json:"soldToday"`
	Available bool   `json:"available"`
}

// DishSales is the sales of a dish, by branch.
type DishSales map[int64]DishSale

// Stock returns the units left in all branches that can sell the dish; limited is false if one of them has no limit.
func (s DishSales) Stock() (units int64, limited bool) {
	for _, b := range s {
		if b.Available && b.Stock == nil {
			return 0, false
		}
		if b.Available {
			units += *b.Stock
		}
	}
	return units, len(s) > 0
}

// SoldToday returns the units sold in all branches.
func (s DishSales) SoldToday() (units int64) {
	for _, b := range s {
		units += b.SoldToday
	}
	return units
}

// Available reports whether a branch can sell the dish now.
func (s DishSales) Available() bool {
	for _, b := range s {
		if b.Available {
			return true
		}
	}
	return false
}

// Sales returns the sale of every dish on the branch's published menus. used has the units that are sold, by item. A dish
// on several menus has the sum of their sold units, and the units left of the menu that offers it now.
func (m *LiveMenu) Sales(used map[int64]int64) map[int64]DishSale {
	all := make(map[int64]DishSale, len(m.published.Items))
	for i := range m.published.Items {
		if it := &m.published.Items[i]; it.Active {
			s := all[it.DishID]
			s.SoldToday += used[it.ID]
			all[it.DishID] = s
		}
	}
	open := m.Branch.Open && m.Pause == nil && m.Closure == nil
	for i := range m.Items { // of the menus in force; an item that another menu offers is not active here
		it := &m.Items[i]
		s, known := all[it.DishID]
		if !it.Active || !known || s.Available {
			continue
		}
		left, limited := m.Left(it.ID)
		if limited {
			s.Stock = &left
		}
		s.Available = open && (!limited || left > 0)
		all[it.DishID] = s
	}
	return all
}
