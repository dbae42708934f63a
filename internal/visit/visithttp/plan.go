package visithttp

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
	"comanda/internal/visit"
)

func (s *staff) registerPlan(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-floor-plan-save", "PUT /api/branches/{id}/floor-plan",
		"Arrange tables on the floor plan", s.savePlan)
}

// planEdit is a table with its place on the plan of its section.
type planEdit struct {
	TableID string `json:"tableId" pattern:"^[1-9][0-9]{0,17}$"`
	Column  *int   `json:"planColumn" minimum:"0" maximum:"29" doc:"null, as planRow: not on the plan."`
	Row     *int   `json:"planRow" minimum:"0" maximum:"19"`
	Shape   string `json:"shape" enum:"SQUARE,ROUND,WIDE" doc:"A WIDE table also covers the next column."`
}

type savePlanIn struct {
	ID   int64 `path:"id"`
	Body struct {
		Tables []planEdit `json:"tables" minItems:"1" maxItems:"600" doc:"The tables to change; others stay as they are."`
	}
}

// savePlan returns all tables of the branch.
func (s *staff) savePlan(ctx context.Context, in *savePlanIn) (list httpapi.List[table], err error) {
	edits, err := planEdits(in.Body.Tables)
	if err != nil {
		return list, err
	}
	actor := authz.ActorOf(ctx)
	all, err := s.floor.SavePlan(ctx, actor, in.ID, edits)
	return httpapi.ListOf(all, len(all), func(t visit.Table) table { return s.tableOf(actor, t) }), err
}

func planEdits(tables []planEdit) ([]visit.PlanEdit, error) {
	for _, t := range tables {
		if (t.Column == nil) != (t.Row == nil) {
			return nil, visit.ErrPlace.With("tableId", t.TableID)
		}
	}
	return seq.Map(tables, func(t planEdit) visit.PlanEdit {
		e := visit.PlanEdit{TableID: httpapi.IDOf(t.TableID), Shape: visit.Shape(t.Shape)}
		if t.Column != nil {
			e.Place = &visit.PlanCell{Column: *t.Column, Row: *t.Row}
		}
		return e
	}), nil
}
