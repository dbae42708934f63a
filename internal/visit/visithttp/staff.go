package visithttp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/visit"
)

// Staff registers the staff's routes for tables and visits. The links in QR codes start with publicURL, which has no
// trailing slash.
func Staff(a *httpapi.API, floor *visit.Floor, publicURL string) {
	s := &staff{floor, publicURL}
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-table-list", Method: http.MethodGet, Path: "/api/tables", Tags: []string{"Tables"},
		Summary: "The tables of a branch with their active codes",
	}, httpapi.Staff, s.tables)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-table-rotate", Method: http.MethodPost, Path: "/api/tables/{id}/rotate", Tags: []string{"Tables"},
		Summary: "Replaces a table's code; the old one is revoked and the open visit closed",
	}, httpapi.Staff, s.rotate)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-visit-list", Method: http.MethodGet, Path: "/api/visits", Tags: []string{"Visits"},
		Summary: "The visits of a branch, newest first",
	}, httpapi.Staff, s.visits)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-visit-close", Method: http.MethodPost, Path: "/api/visits/{id}/close", Tags: []string{"Visits"},
		Summary: "Closes a visit; its guests' tokens become invalid",
	}, httpapi.Staff, s.close)
	s.registerTables(a)
	s.registerVisits(a)
	s.registerCodes(a)
}

type staff struct {
	floor  *visit.Floor
	public string
}

// Paging has the query parameters of every list. It is exported because huma only reads exported embedded fields.
type Paging struct {
	Page int `query:"page" default:"1" minimum:"1" maximum:"1000000"`
	Size int `query:"size" default:"100" minimum:"1" maximum:"100"`
}

func (p Paging) offset() int { return (p.Page - 1) * p.Size }

type table struct {
	ID       string `json:"id"`
	BranchID string `json:"branchId"`
	Label    string `json:"label"`
	Seats    int    `json:"seats"`
	IsActive bool   `json:"isActive" doc:"false: its code is refused."`
	QRToken  string `json:"qrToken,omitempty" doc:"For managers and above, and the service token."`
	Link     string `json:"link,omitempty" doc:"The content of the printed code; likewise."`
	Visit    *party `json:"visit" doc:"The open visit; null for none."`
}

// party is the summary of an open visit on the floor plan.
type party struct {
	ID       string         `json:"id"`
	OpenedAt time.Time      `json:"openedAt"`
	Guests   int            `json:"guests" doc:"Phones that have joined."`
	Orders   int            `json:"orders" doc:"Cancelled ones excluded."`
	Unpaid   int64          `json:"unpaid" doc:"The amount to pay, in minor units."`
	Currency money.Currency `json:"currency"`
	Calls    []call         `json:"calls"`
}

// tableOf converts a table. It leaves out the QR token for accounts below manager, because the token admits guests.
func (s *staff) tableOf(a authz.Actor, t visit.Table) table {
	out := table{
		ID: decimal(t.ID), BranchID: decimal(t.BranchID), Label: t.Label, Seats: t.Seats, IsActive: t.Active,
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
func (s *staff) link(t visit.Table) string { return s.public + "/m/" + t.QR }

type tablesIn struct {
	Paging
	BranchID int64 `query:"branchId" minimum:"0" doc:"All branches that the caller sees where it is left out."`
}

type tableList struct {
	Items []table `json:"items"`
	Total int     `json:"total"`
}

// tables cuts the page out of the whole list: a branch has dozens of tables, not thousands.
func (s *staff) tables(ctx context.Context, in *tablesIn) (*httpapi.Output[tableList], error) {
	all, err := s.floor.Tables(ctx, authz.ActorOf(ctx), in.BranchID)
	if err != nil {
		return nil, err
	}
	list := tableList{Items: []table{}, Total: len(all)}
	all = all[min(in.offset(), len(all)):]
	for _, t := range all[:min(in.Size, len(all))] {
		list.Items = append(list.Items, s.tableOf(authz.ActorOf(ctx), t))
	}
	return httpapi.OutputOf(list), nil
}

type rotateIn struct {
	ID int64 `path:"id"`
}

func (s *staff) rotate(ctx context.Context, in *rotateIn) (*httpapi.Output[table], error) {
	t, err := s.floor.RotateQR(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(s.tableOf(authz.ActorOf(ctx), t)), nil
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
		ID: v.ID, BranchID: decimal(v.BranchID), TableID: decimal(v.TableID), TableLabel: v.TableLabel, BizDate: v.BizDate,
		Status: "OPEN", Guests: v.Guests, OpenedAt: v.OpenedAt, LastSeenAt: v.LastSeenAt,
		Calls: callsOf(v.Calls),
	}
	if !v.Open {
		reason := string(v.Reason)
		out.Status, out.ClosedAt, out.CloseReason = "CLOSED", &v.ClosedAt, &reason
	}
	return out
}

type visitsIn struct {
	Paging
	BranchID int64  `query:"branchId" required:"true" minimum:"1"`
	Status   string `query:"status" enum:"OPEN,CLOSED"`
}

type visitList struct {
	Items []visitInfo `json:"items"`
	Total int         `json:"total"`
}

func (s *staff) visits(ctx context.Context, in *visitsIn) (*httpapi.Output[visitList], error) {
	page, total, err := s.floor.Visits(ctx, authz.ActorOf(ctx), visit.Filter{
		Branch: in.BranchID, Status: in.Status, Offset: in.offset(), Limit: in.Size,
	})
	if err != nil {
		return nil, err
	}
	list := visitList{make([]visitInfo, len(page)), total}
	for i, v := range page {
		list.Items[i] = visitInfoOf(v)
	}
	return httpapi.OutputOf(list), nil
}

type closeIn struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *staff) close(ctx context.Context, in *closeIn) (*httpapi.Output[visitInfo], error) {
	v, err := s.floor.Close(ctx, authz.ActorOf(ctx), in.ID)
	return httpapi.Answer(visitInfoOf, v, err)
}
