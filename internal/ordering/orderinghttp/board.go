package orderinghttp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/identity"
	"comanda/internal/ordering"
)

// admitEvery is the longest time between two checks of a screen's session. A revoked session receives boards for at
// most this long.
const admitEvery = 5 * time.Second

// Board registers the kitchen board's routes: one read and one event stream.
func Board(a *httpapi.API, boards *ordering.Boards) {
	b := wallRoutes{boards}
	httpapi.Register(a, huma.Operation{
		OperationID: "board-get", Method: http.MethodGet, Path: "/api/boards/{branchId}", Tags: []string{"Orders"},
		Summary: "What a branch's kitchen has to do, and has done lately",
	}, httpapi.Staff, b.get)
	httpapi.RegisterStream[boardEventsInput, board](a, huma.Operation{
		OperationID: "board-events", Method: http.MethodGet, Path: "/api/boards/{branchId}/events", Tags: []string{"Orders"},
		Summary: "A branch's board as it changes: first as it is, then the whole of it after every change; the id is the board's",
	}, httpapi.Staff, b.events)
}

type wallRoutes struct{ boards *ordering.Boards }

type boardInput struct {
	BranchID string `path:"branchId" maxLength:"18"`
	Station  string `query:"station" pattern:"^[1-9][0-9]{0,17}$" doc:"A category: only its lines and tickets with some."`
	Since    string `query:"since" text:"exact" maxLength:"64" doc:"The id of a board; 304 while it is that one, of whatever station."`
}

type boardOutput struct {
	Status int
	Body   *board
}

// boardBranch parses a branch id. A malformed id returns the same error as an unknown branch.
func boardBranch(s string) (int64, error) {
	id, err := parseID(s)
	if err != nil || id <= 0 {
		return 0, catalog.ErrBranch
	}
	return id, nil
}

func (r wallRoutes) get(ctx context.Context, in *boardInput) (*boardOutput, error) {
	branch, err := boardBranch(in.BranchID)
	if err != nil {
		return nil, err
	}
	var station int64
	if in.Station != "" {
		if station, err = parseID(in.Station); err != nil {
			return nil, err
		}
	}
	b, err := r.boards.Get(ctx, identity.ActorOf(ctx), branch)
	if err != nil {
		return nil, err
	}
	if b.ID == in.Since {
		return &boardOutput{Status: http.StatusNotModified}, nil
	}
	body := r.boardOf(b, look{station, identity.MayUse(ctx, receiverRoute)})
	return &boardOutput{http.StatusOK, &body}, nil
}

type boardEventsInput struct {
	httpapi.LastEvent
	BranchID string `path:"branchId" maxLength:"18"`
}

// events streams a branch's board. The limit on open streams counts per account and session, because a kitchen's
// tablets often share an account.
func (r wallRoutes) events(ctx context.Context, in *boardEventsInput) (httpapi.Feed, error) {
	branch, err := boardBranch(in.BranchID)
	if err != nil {
		return httpapi.Feed{}, err
	}
	by := identity.ActorOf(ctx)
	screen, end, err := r.boards.Follow(ctx, by, branch)
	if err != nil {
		return httpapi.Feed{}, err
	}
	return httpapi.Feed{Key: by.String() + " " + by.Session, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		r.follow(ctx, s, screen, branch, in.LastEventID)
	}}, nil
}

// follow sends boards until the client disconnects, the session is no longer admitted, or the screen ends.
func (r wallRoutes) follow(ctx context.Context, s *httpapi.Stream, screen *ordering.Screen, branch int64, seen string) {
	for {
		if b := screen.Board(); b.ID != seen {
			l := look{receivers: identity.MayUse(ctx, receiverRoute)}
			if s.Send(httpapi.Event{ID: b.ID, Name: "board", Data: r.boardOf(b, l)}) != nil {
				return
			}
			seen = b.ID
		}
		if !admitted(ctx, s, screen, branch) {
			return
		}
	}
}

// admitted waits for a new board or for admitEvery, then checks the session again, and reports whether the stream may
// continue. A revoked session receives no further board. If the check itself is unavailable, it sends nothing and tries
// again.
func admitted(ctx context.Context, s *httpapi.Stream, screen *ordering.Screen, branch int64) bool {
	for {
		if s.Wait(ctx, screen.Wake(), admitEvery) != nil || screen.Over() {
			return false
		}
		now, err := s.Admitted(ctx)
		if fault.KindOf(err) != fault.Unavailable {
			return err == nil && identity.ActorOf(now).Sees(branch)
		}
	}
}
