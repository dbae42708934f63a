package visithttp

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/visit"
)

func (s *staff) registerVisits(a *httpapi.API) {
	tags := []string{"Visits"}
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-visit-open", Method: http.MethodPost, Path: "/api/visits", Tags: tags,
		DefaultStatus: http.StatusCreated, Summary: "Opens a visit at a table; guests join by scanning its code",
	}, httpapi.Staff, s.open)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-visit-move", Method: http.MethodPost, Path: "/api/visits/{id}/move", Tags: tags,
		Summary: "Moves a visit to a free table of the branch, with its guests and orders",
	}, httpapi.Staff, s.move)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-visit-answer", Method: http.MethodPost, Path: "/api/visits/{id}/answer", Tags: tags,
		Summary: "Ends a call of a visit, or all of them",
	}, httpapi.Staff, s.answer)
}

type tableRequest struct {
	TableID string `json:"tableId" pattern:"^[1-9][0-9]{0,17}$"`
}

type openIn struct {
	Body tableRequest
}

func (s *staff) open(ctx context.Context, in *openIn) (*httpapi.Output[visitInfo], error) {
	table, err := parseID(in.Body.TableID)
	if err != nil {
		return nil, err
	}
	v, err := s.floor.Seat(ctx, authz.ActorOf(ctx), table)
	return httpapi.Answer(visitInfoOf, v, err)
}

type moveIn struct {
	ID   string `path:"id" maxLength:"64"`
	Body tableRequest
}

func (s *staff) move(ctx context.Context, in *moveIn) (*httpapi.Output[visitInfo], error) {
	table, err := parseID(in.Body.TableID)
	if err != nil {
		return nil, err
	}
	v, err := s.floor.Move(ctx, authz.ActorOf(ctx), in.ID, table)
	return httpapi.Answer(visitInfoOf, v, err)
}

type answerIn struct {
	ID   string         `path:"id" maxLength:"64"`
	Body *answerRequest `required:"false"`
}

type answerRequest struct {
	Reason string `json:"reason,omitempty" enum:"BILL,HELP,WATER" doc:"Which call; all of them where it is left out."`
}

func (s *staff) answer(ctx context.Context, in *answerIn) (*httpapi.Output[visitInfo], error) {
	var reason visit.CallReason
	if in.Body != nil {
		reason = visit.CallReason(in.Body.Reason)
	}
	v, err := s.floor.Answer(ctx, authz.ActorOf(ctx), in.ID, reason)
	return httpapi.Answer(visitInfoOf, v, err)
}

// Calls registers the route by which guests call the staff.
func Calls(a *httpapi.API, floor *visit.Floor) {
	c := &calls{floor}
	httpapi.Register(a, huma.Operation{
		OperationID: "visit-call", Method: http.MethodPost, Path: "/cis/visit/{visitId}/call", Tags: []string{"Visits"},
		Summary: "Calls the staff to the table",
	}, httpapi.Guest, c.call)
}

type calls struct{ floor *visit.Floor }

type callIn struct {
	httpapi.GuestHeader
	VisitID string `path:"visitId" maxLength:"64"`
	Body    struct {
		Reason string `json:"reason" enum:"BILL,HELP,WATER"`
	}
}

// call is one open call of a visit.
type call struct {
	Reason string    `json:"reason" enum:"BILL,HELP,WATER"`
	Since  time.Time `json:"since"`
}

// call starts a call. Repeated calls count toward the limit although they change nothing.
func (c *calls) call(ctx context.Context, in *callIn) (*httpapi.Output[call], error) {
	g, err := c.floor.Guests.Resolve(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	if in.VisitID != g.VisitID { // another visit is reported as unknown
		return nil, visit.ErrVisit
	}
	if err := httpapi.Allow(ctx, "call_visit", g.VisitID); err != nil {
		return nil, err
	}
	reason := visit.CallReason(in.Body.Reason)
	v, err := c.floor.Call(ctx, g, reason)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(call{string(reason), v.Calls.Since(reason)}), nil
}

func callsOf(c visit.Calls) []call {
	all := []call{}
	for _, reason := range []visit.CallReason{visit.CallBill, visit.CallHelp, visit.CallWater} {
		if since := c.Since(reason); !since.IsZero() {
			all = append(all, call{string(reason), since})
		}
	}
	slices.SortStableFunc(all, func(a, b call) int { return cmp.Compare(a.Since.UnixMilli(), b.Since.UnixMilli()) })
	return all
}

func parseID(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.Invalid, "invalid", "An id must be a decimal number.")
	}
	return id, nil
}
