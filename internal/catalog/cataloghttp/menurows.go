package cataloghttp

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

// maxRowsBody is enough for catalog.MaxMenuRows dishes with names in five languages, as they are and as they were.
const maxRowsBody = 2 << 20

func (s *staff) registerMenuRows(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-menu-write", "PUT /api/branches/{id}/menu/dishes",
		"Add and edit dishes with their prices in a draft", s.writeRows,
		func(op *huma.Operation) { op.MaxBodyBytes = maxRowsBody })
}

// menuRow is a dish with its price. Omitted texts stay as they are.
type menuRow struct {
	DishID       string        `json:"dishId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"Left out, a new dish is created."`
	CategoryID   string        `json:"categoryId,omitempty" pattern:"^[1-9][0-9]{0,17}$"`
	Names        catalog.Texts `json:"names,omitempty" text:"line"`
	Descriptions catalog.Texts `json:"descriptions,omitempty" text:"lines"`
	ImageID      *string       `json:"imageId,omitempty" text:"exact" maxLength:"64" doc:"Empty takes the image away."`
	Price        int64         `json:"price" minimum:"0" doc:"In minor units of the branch's currency."`
	DailyQuota   *int64        `json:"dailyQuota" doc:"null for none."`
	Before       *menuRowState `json:"before,omitempty" doc:"The values that were read. If others are stored by now, nothing is written."`
}

type menuRowState struct {
	CategoryID string        `json:"categoryId" pattern:"^[1-9][0-9]{0,17}$"`
	Names      catalog.Texts `json:"names" text:"line"`
	Price      int64         `json:"price"`
	DailyQuota *int64        `json:"dailyQuota"`
}

type menuRows struct {
	VersionID string    `json:"versionId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"A draft; left out, the newest draft or a new one."`
	Publish   bool      `json:"publish,omitempty" doc:"Publishes the draft with everything in it."`
	Dishes    []menuRow `json:"dishes" minItems:"1" maxItems:"500"`
}

type menuRowsDone struct {
	VersionID *string `json:"versionId" doc:"null if nothing had to be written and there is no draft."`
	Created   int     `json:"created"`
	Updated   int     `json:"updated"`
}

func (s *staff) writeRows(ctx context.Context, in *httpapi.BodyByID[menuRows]) (menuRowsDone, error) {
	w := catalog.MenuRows{VersionID: idOrZero(in.Body.VersionID), Publish: in.Body.Publish}
	for _, r := range in.Body.Dishes {
		w.Rows = append(w.Rows, r.row())
	}
	done, err := s.Files.WriteRows(ctx, authz.ActorOf(ctx), in.ID, w)
	return menuRowsDone{httpapi.IDOrNull(done.VersionID), done.Created, done.Updated}, err
}

func (r menuRow) row() catalog.MenuRow {
	row := catalog.MenuRow{
		DishID: idOrZero(r.DishID), Names: r.Names, Descriptions: r.Descriptions, Image: r.ImageID, Price: r.Price,
		Quota: r.DailyQuota,
	}
	if r.CategoryID != "" {
		category := idOrZero(r.CategoryID)
		row.CategoryID = &category
	}
	if b := r.Before; b != nil {
		row.Before = &catalog.RowState{CategoryID: idOrZero(b.CategoryID), Names: b.Names, Price: b.Price, Quota: b.DailyQuota}
	}
	return row
}

// idOrZero returns the id of a text that is empty or has the pattern of ids.
func idOrZero(s string) int64 {
	if s == "" {
		return 0
	}
	id, _ := parseID(s) // the pattern lets nothing else through
	return id
}
