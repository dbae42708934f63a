// Package visithttp has the routes by which guests join a visit and the staff manage tables and visits.
package visithttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/seq"
	"comanda/internal/visit"
)

// RegisterStaff registers the staff's routes for tables and visits. The links in QR codes start with the result of
// publicURL, which has no trailing slash.
func RegisterStaff(a *httpapi.API, floor *visit.Floor, publicURL func() string) {
	s := &staff{floor, publicURL}
	tables, visits := a.Operations("Tables", httpapi.Staff), a.Operations("Visits", httpapi.Staff)
	httpapi.Register(tables, "staff-table-list", "GET /api/tables",
		"List the tables of a branch with their QR codes", s.tables)
	httpapi.Register(tables, "staff-table-rotate", "POST /api/tables/{id}/rotate",
		"Replace a table's QR code; the old one stops working and the table is cleared", s.rotate)
	httpapi.Register(visits, "staff-visit-list", "GET /api/visits", "List the visits of a branch, newest first", s.visits)
	httpapi.Register(visits, "staff-visit-close", "POST /api/visits/{id}/close",
		"Clear a table; its guests can no longer order from their phones", s.close)
	s.registerTables(tables)
	s.registerPlan(tables)
	s.registerVisits(visits)
	s.registerCodes(a)
}

type staff struct {
	floor  *visit.Floor
	public func() string
}

type table struct {
	ID       string `json:"id"`
	BranchID string `json:"branchId"`
	Label    string `json:"label"`
	Seats    int    `json:"seats"`
	Section  string `json:"section,omitempty" doc:"The section of the floor; omitted for none."`
	Column   *int   `json:"planColumn" doc:"The column on the plan of its section, from 0; null, as planRow, if it is not on the plan."`
	Row      *int   `json:"planRow"`
	Shape    string `json:"shape" enum:"SQUARE,ROUND,WIDE" doc:"A WIDE table also covers the next column."`
	IsActive bool   `json:"isActive" doc:"false: its QR code is refused."`
	QRToken  string `json:"qrToken,omitempty" doc:"Only for managers and above, and for the service token."`
	Link     string `json:"link,omitempty" doc:"The content of the printed code. Only for managers and above, and for the service token."`
	Visit    *party `json:"visit" doc:"The open visit; null for none."`
}

// party is the summary of an open visit on the floor plan.
type party struct {
	ID       string         `json:"id"`
	OpenedAt time.Time      `json:"openedAt"`
	Guests   int            `json:"guests" doc:"Phones that have joined."`
	Orders   int            `json:"orders" doc:"Number of orders, without cancelled ones."`
	Unpaid   int64          `json:"unpaid" doc:"The amount to pay, in minor units."`
	Currency money.Currency `json:"currency"`
	Calls    []call         `json:"calls"`
}

// tableOf converts a table. It leaves out the QR token for accounts below manager, because the token admits guests.
func (s *staff) tableOf(a authz.Actor, t visit.Table) table {
	out := table{
		ID: httpapi.FormatID(t.ID), BranchID: httpapi.FormatID(t.BranchID), Label: t.Label, Seats: t.Seats,
		Section: t.Section, Shape: string(t.Shape), IsActive: t.Active,
	}
	if t.Place != nil {
		out.Column, out.Row = &t.Place.Column, &t.Place.Row
	}
	if a.Kind != authz.Account || authz.RankOf(a.Role) >= authz.RankManager {
		out.QRToken, out.Link = t.QR, s.link(t)
	}
	if p := t.Party; p != nil {
		out.Visit = &party{p.VisitID, p.OpenedAt, p.Guests, p.Orders, p.Unpaid, p.Currency, callsOf(p.Calls)}
	}
	return out
}

// link returns the content of a table's QR code.
func (s *staff) link(t visit.Table) string { return s.public() + "/m/" + t.QR }

type tablesIn struct {
	httpapi.LongPaging
	BranchID int64 `query:"branchId" minimum:"0" doc:"If omitted, all branches that the caller may see."`
}

// tables returns a page of the complete list: a branch has dozens of tables, not thousands.
func (s *staff) tables(ctx context.Context, in *tablesIn) (httpapi.List[table], error) {
	actor := authz.ActorOf(ctx)
	all, err := s.floor.Tables(ctx, actor, in.BranchID)
	page := httpapi.PageOf(httpapi.Paging(in.LongPaging), all)
	return httpapi.ListOf(page, len(all), func(t visit.Table) table { return s.tableOf(actor, t) }), err
}

func (s *staff) rotate(ctx context.Context, in *httpapi.ByID) (table, error) {
	t, err := s.floor.RotateQR(ctx, authz.ActorOf(ctx), in.ID)
	return s.tableOf(authz.ActorOf(ctx), t), err
}

type visitInfo struct {
	ID          string     `json:"id"`
	BranchID    string     `json:"branchId"`
	TableID     string     `json:"tableId"`
	TableLabel  string     `json:"tableLabel"`
	BizDate     string     `json:"bizDate"`
	Status      string     `json:"status" enum:"OPEN,CLOSED"`
	Guests      int        `json:"guests" doc:"Phones that have joined."`
	OpenedAt    time.Time  `json:"openedAt"`
	LastSeenAt  time.Time  `json:"lastSeenAt"`
	ClosedAt    *time.Time `json:"closedAt"`
	CloseReason *string    `json:"closeReason" enum:"STAFF,IDLE,ROTATED"`
	Calls       []call     `json:"calls" doc:"Open calls, longest waiting first."`
}

func visitInfoOf(v visit.Visit) visitInfo {
	out := visitInfo{
		ID: v.ID, BranchID: httpapi.FormatID(v.BranchID), TableID: httpapi.FormatID(v.TableID), TableLabel: v.TableLabel,
		BizDate: v.BizDate, Status: "OPEN", Guests: v.Guests, OpenedAt: v.OpenedAt, LastSeenAt: v.LastSeenAt,
		Calls: callsOf(v.Calls),
	}
	if !v.Open {
		out.Status, out.ClosedAt, out.CloseReason = "CLOSED", &v.ClosedAt, new(string(v.Reason))
	}
	return out
}

type visitsIn struct {
	httpapi.LongPaging
	BranchID int64  `query:"branchId" required:"true" minimum:"1"`
	Status   string `query:"status" enum:"OPEN,CLOSED"`
}

func (s *staff) visits(ctx context.Context, in *visitsIn) (httpapi.List[visitInfo], error) {
	page, total, err := s.floor.Visits(ctx, authz.ActorOf(ctx), visit.Filter{
		Branch: in.BranchID, Status: in.Status, Offset: in.Offset(), Limit: in.Size,
	})
	return httpapi.ListOf(page, total, visitInfoOf), err
}

func (s *staff) close(ctx context.Context, in *httpapi.ByText) (visitInfo, error) {
	v, err := s.floor.Close(ctx, authz.ActorOf(ctx), in.ID)
	return visitInfoOf(v), err
}

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
		Label    string `json:"label" text:"line" minLength:"1" maxLength:"16" doc:"Unique in the branch; printed large on the table's card."`
		Seats    int    `json:"seats,omitempty" default:"4" minimum:"1" maximum:"100"`
		Section  string `json:"section,omitempty" text:"line" maxLength:"32" doc:"The section of the floor, such as Terrace."`
	}
}

func (s *staff) addTable(ctx context.Context, in *addTableIn) (table, error) {
	t, err := s.floor.AddTable(ctx, authz.ActorOf(ctx), visit.Table{
		BranchID: httpapi.IDOf(in.Body.BranchID), Label: in.Body.Label, Seats: in.Body.Seats, Section: in.Body.Section,
	})
	return s.tableOf(authz.ActorOf(ctx), t), err
}

type addTablesIn struct {
	ID   int64 `path:"id"`
	Body struct {
		Labels  string `json:"labels" text:"line" minLength:"1" maxLength:"2000" doc:"A list of labels and ranges, such as A1-A8,T01-T12,Bar; at most 200 tables."`
		Seats   int    `json:"seats,omitempty" default:"4" minimum:"1" maximum:"100"`
		Section string `json:"section,omitempty" text:"line" maxLength:"32" doc:"Applies to all these tables."`
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
		Section  *string `json:"section,omitempty" text:"line" maxLength:"32" doc:"Empty for none. A table that changes its section leaves the floor plan."`
		IsActive *bool   `json:"isActive,omitempty"`
	}
}

func (s *staff) editTable(ctx context.Context, in *editTableIn) (table, error) {
	t, err := s.floor.EditTable(ctx, authz.ActorOf(ctx), in.ID, visit.TableEdit{
		Label: in.Body.Label, Seats: in.Body.Seats, Section: in.Body.Section, Active: in.Body.IsActive,
	})
	return s.tableOf(authz.ActorOf(ctx), t), err
}

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
