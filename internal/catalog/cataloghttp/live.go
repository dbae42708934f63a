package cataloghttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
)

// Guests tells in which branch the bearer of a customer token sits, and by what name that phone is counted.
type Guests interface {
	BranchOf(ctx context.Context, token string) (branch int64, key string, err error)
}

// liveEvery is how often a stream looks at its branch's board, which is as old as that at most, when nobody wakes it.
const liveEvery = 250 * time.Millisecond

// Watched gives boards and wakes who looks at them, as catalog.Boards does.
type Watched interface {
	Boards
	// Watch gives a channel that wakes when a branch's board may be another one, and what ends the watch.
	Watch(branch int64) (wake <-chan struct{}, end func())
}

// Live registers the stream of what is left.
func Live(a *httpapi.API, boards Watched, guests Guests) {
	l := &live{boards, guests}
	httpapi.RegisterStream[liveIn, availability](a, huma.Operation{
		OperationID: "availability-events", Method: http.MethodGet, Path: "/cis/branch/{branchId}/availability/events",
		Tags: []string{"Menus"}, Summary: "What is left: first of every item, then of those that change",
	}, httpapi.Guest, l.open)
}

type live struct {
	boards Watched
	guests Guests
}

type liveIn struct {
	httpapi.GuestHeader
	httpapi.LastEvent
	BranchID string `path:"branchId" maxLength:"18"`
}

// availability is the data of one event.
type availability struct {
	MenuVersionID string      `json:"menuVersionId" doc:"When it is another one, read the menu again."`
	BizDate       string      `json:"bizDate"`
	Complete      bool        `json:"complete" doc:"True: every item of the menu; false: only those that have changed."`
	IsPaused      bool        `json:"isPaused" doc:"No orders are taken for the moment; the menu says why and how long."`
	Items         []remaining `json:"items"`
}

type remaining struct {
	ItemID    string `json:"itemId"`
	IsActive  bool   `json:"isActive"`
	IsSoldOut bool   `json:"isSoldOut"`
	Remaining *int64 `json:"remaining" doc:"null where there is no quota."`
}

func (l *live) open(ctx context.Context, in *liveIn) (httpapi.Feed, error) {
	branch, key, err := l.guests.BranchOf(ctx, string(in.CustomerToken))
	if err != nil {
		return httpapi.Feed{}, err
	}
	if asked, ok := parseID(in.BranchID); !ok || asked != branch {
		return httpapi.Feed{}, catalog.ErrBranch // another branch is answered like none
	}
	wake, end := l.boards.Watch(branch) // before the first look, so that nothing falls in between
	board, err := l.boards.Get(ctx, branch)
	if err != nil {
		end()
		return httpapi.Feed{}, err
	}
	return httpapi.Feed{Key: key, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		l.follow(ctx, s, string(in.CustomerToken), board, in.LastEventID, wake)
	}}, nil
}

// follow sends the whole state to who has not seen the present one, and then what changes, until the guest's visit ends.
func (l *live) follow(
	ctx context.Context, s *httpapi.Stream, token string, board *catalog.Board, seen string, wake <-chan struct{},
) {
	var told *catalog.Board
	if liveID(board) == seen {
		told = board
	}
	for {
		if data := differences(told, board); data != nil {
			if s.Send(httpapi.Event{ID: liveID(board), Name: "availability", Data: data}) != nil {
				return
			}
		}
		told = board
		if s.Wait(ctx, wake, liveEvery) != nil {
			return
		}
		_, _, err := l.guests.BranchOf(ctx, token)
		if err == nil {
			var next *catalog.Board
			if next, err = l.boards.Get(ctx, board.Branch.ID); err == nil {
				board = next
			}
		}
		if err != nil && fault.KindOf(err) != fault.Unavailable {
			return
		}
	}
}

// liveID names what a board says, so that whoever has seen it is not told again, by whichever process.
func liveID(b *catalog.Board) string {
	sum := sha256.New()
	fmt.Fprint(sum, b.VersionID, b.Date)
	if b.Pause != nil {
		fmt.Fprint(sum, *b.Pause)
	}
	for i := range b.Items {
		fmt.Fprint(sum, remainingOf(b, &b.Items[i]))
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// differences is what somebody who was told of one board must learn of the next; nil when there is nothing.
func differences(told, board *catalog.Board) *availability {
	if told == board {
		return nil
	}
	a := &availability{
		MenuVersionID: decimal(board.VersionID), BizDate: board.Date, Items: []remaining{},
		IsPaused: board.Pause != nil,
		Complete: told == nil || told.VersionID != board.VersionID || told.Date != board.Date,
	}
	for i := range board.Items {
		it := &board.Items[i]
		if now := remainingOf(board, it); a.Complete || now != remainingOf(told, it) {
			a.Items = append(a.Items, now.shown())
		}
	}
	if !a.Complete && len(a.Items) == 0 && samePause(told.Pause, board.Pause) {
		return nil
	}
	return a
}

// samePause tells whether guests are told the same of two pauses.
func samePause(a, b *catalog.Pause) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Code == b.Code && a.Until.Equal(b.Until) && maps.Equal(a.Texts, b.Texts)
}

// rest is what is left of an item, as a value that can be compared.
type rest struct {
	item            int64
	active, limited bool
	left            int64
}

func remainingOf(b *catalog.Board, it *catalog.Item) rest {
	r := rest{item: it.ID, active: it.Active}
	r.left, r.limited = b.Left(it.ID)
	return r
}

func (r rest) shown() remaining {
	out := remaining{ItemID: decimal(r.item), IsActive: r.active, IsSoldOut: r.limited && r.left == 0}
	if r.limited {
		out.Remaining = &r.left
	}
	return out
}
