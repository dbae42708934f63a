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

// Sites lists the house's branches, as catalogsql.Store does.
type Sites interface {
	Branches(ctx context.Context) ([]catalog.Branch, error)
}

// House registers what somebody needs to know of the house who sits at none of its tables.
func House(a *httpapi.API, sites Sites, now func() time.Time) {
	httpapi.Register(a, huma.Operation{
		OperationID: "branch-list", Method: http.MethodGet, Path: "/branches", Tags: []string{"Menus"},
		Summary: "The house's branches, of which one orders from home",
	}, httpapi.Public, house{sites, now}.branches)
}

type house struct {
	sites Sites
	now   func() time.Time
}

// place is a branch as guests may see it before they have chosen it. A list of them is one page: houses have few.
type place struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Currency money.Currency   `json:"currency"`
	Timezone string           `json:"timezone"`
	Locales  []catalog.Locale `json:"locales"`
	IsOpen   bool             `json:"isOpen" doc:"false: it is closed or paused, and takes no orders at the moment."`
}

type placeList struct {
	Items []place `json:"items"`
	Total int     `json:"total"`
}

type placesOut struct{ Body placeList }

func (h house) branches(ctx context.Context, _ *struct{}) (*placesOut, error) {
	all, err := h.sites.Branches(ctx)
	if err != nil {
		return nil, err
	}
	list := placeList{make([]place, len(all)), len(all)}
	for i, b := range all {
		list.Items[i] = place{decimal(b.ID), b.Name, b.Currency, b.Timezone, b.Locales, b.Open && b.Paused(h.now()) == nil}
	}
	return &placesOut{list}, nil
}
