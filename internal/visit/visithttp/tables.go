package visithttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/visit"
)

func (s *staff) registerTables(a *httpapi.API) {
	tags := []string{"Tables"}
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-table-add", Method: http.MethodPost, Path: "/api/tables", Tags: tags,
		DefaultStatus: http.StatusCreated, Summary: "A new table with a code of its own",
	}, httpapi.Staff, s.addTable)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-table-edit", Method: http.MethodPatch, Path: "/api/tables/{id}", Tags: tags,
		Summary: "Changes a table's label or seats, or takes a free table out of use",
	}, httpapi.Staff, s.editTable)
}

type addTableIn struct {
	Body struct {
		BranchID string `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
		Label    string `json:"label" text:"line" minLength:"1" maxLength:"16" doc:"Unique in the branch; it is printed large."`
		Seats    int    `json:"seats,omitempty" default:"4" minimum:"1" maximum:"100"`
	}
}

func (s *staff) addTable(ctx context.Context, in *addTableIn) (*httpapi.Output[table], error) {
	branch, err := parseID(in.Body.BranchID)
	if err != nil {
		return nil, err
	}
	t, err := s.floor.AddTable(ctx, authz.ActorOf(ctx), visit.Table{
		BranchID: branch, Label: in.Body.Label, Seats: in.Body.Seats,
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(s.tableOf(authz.ActorOf(ctx), t)), nil
}

type editTableIn struct {
	ID   int64 `path:"id"`
	Body struct {
		Label    *string `json:"label,omitempty" text:"line" minLength:"1" maxLength:"16"`
		Seats    *int    `json:"seats,omitempty" minimum:"1" maximum:"100"`
		IsActive *bool   `json:"isActive,omitempty"`
	}
}

func (s *staff) editTable(ctx context.Context, in *editTableIn) (*httpapi.Output[table], error) {
	t, err := s.floor.EditTable(ctx, authz.ActorOf(ctx), in.ID, visit.TableEdit{
		Label: in.Body.Label, Seats: in.Body.Seats, Active: in.Body.IsActive,
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(s.tableOf(authz.ActorOf(ctx), t)), nil
}
