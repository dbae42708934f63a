package cataloghttp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
)

// BranchLister lists all branches; catalogsql.Store implements it.
type BranchLister interface {
	Branches(ctx context.Context) ([]catalog.Branch, error)
}

// PublicBranches registers the list of branches for guests who are not at a table.
func PublicBranches(a *httpapi.API, lister BranchLister, now func() time.Time) {
	httpapi.Register(a, huma.Operation{
		OperationID: "branch-list", Method: http.MethodGet, Path: "/branches", Tags: []string{"Menus"},
		Summary: "The branches, for guests who order from home",
	}, httpapi.Public, publicBranches{lister, now}.branches)
}

type publicBranches struct {
	lister BranchLister
	now    func() time.Time
}

// publicBranch is a branch as guests see it before they choose one. The list has no pages: an installation has few
// branches.
type publicBranch struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Currency money.Currency   `json:"currency"`
	Timezone string           `json:"timezone"`
	Locales  []catalog.Locale `json:"locales"`
	IsOpen   bool             `json:"isOpen" doc:"false: it is closed or paused, and takes no orders at the moment."`
}

type publicBranchList struct {
	Items []publicBranch `json:"items"`
	Total int            `json:"total"`
}

func (p publicBranches) branches(ctx context.Context, _ *struct{}) (*httpapi.Output[publicBranchList], error) {
	all, err := p.lister.Branches(ctx)
	if err != nil {
		return nil, err
	}
	list := publicBranchList{make([]publicBranch, len(all)), len(all)}
	for i, b := range all {
		list.Items[i] = publicBranch{decimal(b.ID), b.Name, b.Currency, b.Timezone, b.Locales, b.Open && b.Paused(p.now()) == nil}
	}
	return httpapi.OutputOf(list), nil
}
