package catalog

import (
	"cmp"
	"slices"

	"comanda/internal/menufile"
)

// MaxPreviewRows is the largest number of dishes that a dry run lists.
const MaxPreviewRows = 50

// RowChange is what an import does to a dish on the branch's menu.
type RowChange string

// The changes.
const (
	RowCreated   RowChange = "created" // the dish was never on this menu
	RowUpdated   RowChange = "updated"
	RowUnchanged RowChange = "unchanged"
)

// PreviewRow is a dish as an import would write it.
type PreviewRow struct {
	Key           string    `json:"key"`
	Name          Texts     `json:"name" doc:"By locale."`
	Category      Texts     `json:"category" doc:"By locale."`
	Price         int64     `json:"price" doc:"In minor units of the branch's currency."`
	PreviousPrice *int64    `json:"previousPrice" doc:"null for a dish that is not on the menu now."`
	Change        RowChange `json:"change" enum:"created,updated,unchanged"`
}

// previousPrice returns the price of an item that is on the version, else nil.
func (it MenuItemState) previousPrice() *int64 {
	if !it.Listed {
		return nil
	}
	return &it.Price
}

// result returns the result of an import. Only a dry run lists the dishes: after an import the menu itself shows them.
func (c MenuChange) result(o ImportOptions) MenuImportResult {
	r := MenuImportResult{Created: c.Created, Updated: c.Updated, Problems: []menufile.CellProblem{}}
	if !o.DryRun {
		return r
	}
	rows := slices.Clone(c.Preview)
	rank := map[RowChange]int{RowUnchanged: 1} // a long file can change only its last dishes
	slices.SortStableFunc(rows, func(a, b PreviewRow) int { return cmp.Compare(rank[a.Change], rank[b.Change]) })
	r.Rows, r.TotalRows = rows[:min(len(rows), MaxPreviewRows)], len(rows)
	return r
}
