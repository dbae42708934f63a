package visithttp

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/visit"
)

func (s *staff) registerTables(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-table-add", "POST /api/tables",
		"Add a table with its own QR code", s.addTable, httpapi.Created)
	httpapi.Register(ops, "staff-table-bulk", "POST /api/branches/{id}/tables/bulk",
		"Add several tables, all or none, each with its own code", s.addTables, httpapi.Created)
	httpapi.Register(ops, "staff-table-edit", "PATCH /api/tables/{id}",
		"Edit a table's name, seats or section, or deactivate a free table", s.editTable)
}

type addTableIn struct {
	Body struct {
		BranchID string `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
		Label    string `json:"label" text:"line" minLength:"1" maxLength:"16" doc:"Unique in the branch; it is printed large."`
		Seats    int    `json:"seats,omitempty" default:"4" minimum:"1" maximum:"100"`
		Section  string `json:"section,omitempty" text:"line" maxLength:"32" doc:"The part of the floor, such as Terrace."`
	}
}

func (s *staff) addTable(ctx context.Context, in *addTableIn) (table, error) {
	branch, err := httpapi.ParseID(in.Body.BranchID)
	if err != nil {
		return table{}, err
	}
	t, err := s.floor.AddTable(ctx, authz.ActorOf(ctx), visit.Table{
		BranchID: branch, Label: in.Body.Label, Seats: in.Body.Seats, Section: in.Body.Section,
	})
	return s.tableOf(authz.ActorOf(ctx), t), err
}

type addTablesIn struct {
	ID   int64 `path:"id"`
	Body struct {
		Labels  string `json:"labels" text:"line" minLength:"1" maxLength:"2000" doc:"A list of labels and ranges, such as A1-A8,T01-T12,Bar; at most 200 tables."`
		Seats   int    `json:"seats,omitempty" default:"4" minimum:"1" maximum:"100"`
		Section string `json:"section,omitempty" text:"line" maxLength:"32" doc:"Of all these tables."`
	}
}

func (s *staff) addTables(ctx context.Context, in *addTablesIn) (list httpapi.List[table], err error) {
	labels, err := visit.ParseLabels(in.Body.Labels)
	if err != nil {
		return list, err
	}
	actor := authz.ActorOf(ctx)
	all, err := s.floor.AddTables(ctx, actor, labels, visit.Table{
		BranchID: in.ID, Seats: in.Body.Seats, Section: in.Body.Section,
	})
	return httpapi.ListOf(all, len(all), func(t visit.Table) table { return s.tableOf(actor, t) }), err
}

type editTableIn struct {
	ID   int64 `path:"id"`
	Body struct {
		Label    *string `json:"label,omitempty" text:"line" minLength:"1" maxLength:"16"`
		Seats    *int    `json:"seats,omitempty" minimum:"1" maximum:"100"`
		Section  *string `json:"section,omitempty" text:"line" maxLength:"32" doc:"Empty: none."`
		IsActive *bool   `json:"isActive,omitempty"`
	}
}

func (s *staff) editTable(ctx context.Context, in *editTableIn) (table, error) {
	t, err := s.floor.EditTable(ctx, authz.ActorOf(ctx), in.ID, visit.TableEdit{
		Label: in.Body.Label, Seats: in.Body.Seats, Section: in.Body.Section, Active: in.Body.IsActive,
	})
	return s.tableOf(authz.ActorOf(ctx), t), err
}
