package visithttp

import (
	"cmp"
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/visit"
)

func (s *staff) registerVisits(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-visit-open", "POST /api/visits",
		"Seat guests at a table; they join by scanning its code", s.open, httpapi.Created)
	httpapi.Register(ops, "staff-visit-move", "POST /api/visits/{id}/move",
		"Move guests to a free table of the branch, with their orders", s.move)
	httpapi.Register(ops, "staff-visit-answer", "POST /api/visits/{id}/answer",
		"Answer a call of a table, or all of its calls", s.answer)
}

type tableRequest struct {
	TableID string `json:"tableId" pattern:"^[1-9][0-9]{0,17}$"`
}

type openIn struct {
	Body tableRequest
}

func (s *staff) open(ctx context.Context, in *openIn) (visitInfo, error) {
	v, err := s.floor.Seat(ctx, authz.ActorOf(ctx), httpapi.IDOf(in.Body.TableID))
	return visitInfoOf(v), err
}

type moveIn struct {
	ID   string `path:"id" maxLength:"64"`
	Body tableRequest
}

func (s *staff) move(ctx context.Context, in *moveIn) (visitInfo, error) {
	v, err := s.floor.Move(ctx, authz.ActorOf(ctx), in.ID, httpapi.IDOf(in.Body.TableID))
	return visitInfoOf(v), err
}

type answerIn struct {
	ID   string         `path:"id" maxLength:"64"`
	Body *answerRequest `required:"false"`
}

type answerRequest struct {
	Reason string `json:"reason,omitempty" enum:"BILL,HELP,WATER" doc:"The call to end; if omitted, all calls."`
}

func (s *staff) answer(ctx context.Context, in *answerIn) (visitInfo, error) {
	var reason visit.CallReason
	if in.Body != nil {
		reason = visit.CallReason(in.Body.Reason)
	}
	v, err := s.floor.Answer(ctx, authz.ActorOf(ctx), in.ID, reason)
	return visitInfoOf(v), err
}

// RegisterCalls registers the route by which guests call the staff.
func RegisterCalls(a *httpapi.API, floor *visit.Floor) {
	c, ops := &calls{floor}, a.Operations("Visits", httpapi.Guest)
	httpapi.Register(ops, "visit-call", "POST /cis/visit/{visitId}/call", "Call staff to the table", c.call)
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

// call starts a call. Repeated calls count toward the rate limit, although they change nothing.
func (c *calls) call(ctx context.Context, in *callIn) (call, error) {
	g, err := c.floor.Guests.Resolve(ctx, string(in.CustomerToken))
	if err != nil {
		return call{}, err
	}
	if in.VisitID != g.VisitID { // another visit is reported as unknown
		return call{}, visit.ErrVisit
	}
	if err := httpapi.Allow(ctx, "call_visit", g.VisitID); err != nil {
		return call{}, err
	}
	reason := visit.CallReason(in.Body.Reason)
	v, err := c.floor.Call(ctx, g, reason)
	return call{string(reason), v.Calls.Since(reason)}, err
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
