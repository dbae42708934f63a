package cataloghttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

// Guests returns the branch of the visit that a customer token belongs to, and the key by which the phone's streams are
// limited.
type Guests interface {
	BranchOf(ctx context.Context, token string) (branch int64, key string, err error)
	// CartVersion returns the version of the cart that the phones of the token's table fill together.
	CartVersion(ctx context.Context, token string) (int64, error)
	// FollowCart makes changed also receive when that cart changes, until leave is called.
	FollowCart(ctx context.Context, token string, changed chan struct{}) (leave func(), err error)
}

// pollInterval is the interval at which a stream reads the live menu and the version of the cart while notifications
// may be lost. It is also the maximum age of a live menu.
const pollInterval = 250 * time.Millisecond

// SubscribableMenus returns live menus and notifies subscribers; catalog.LiveMenus implements it.
type SubscribableMenus interface {
	LiveMenus
	// Subscribe returns a channel that receives when a branch's live menu may have changed, and a function that ends
	// the subscription.
	Subscribe(branch int64) (changed chan struct{}, unsubscribe func())
}

// RegisterLive registers the event stream of availability.
func RegisterLive(a *httpapi.API, menus SubscribableMenus, guests Guests) {
	l := &liveRoutes{menus: menus, guests: guests, events: sharedEvents{byBranch: map[int64]*branchEvents{}}}
	httpapi.RegisterStream[liveIn, availability](a.Operations("Menus", httpapi.Guest), "availability-events",
		"GET /cis/branch/{branchId}/availability/events", "Follow availability live: every item first, then each change", l.open)
}

type liveRoutes struct {
	menus  SubscribableMenus
	guests Guests
	events sharedEvents
}

type liveIn struct {
	httpapi.GuestHeader
	httpapi.LastEvent
	BranchID string `path:"branchId" maxLength:"18"`
}

// availability is the data of one event.
type availability struct {
	MenuVersionID string      `json:"menuVersionId" doc:"If it changes, read the menu again."`
	BizDate       string      `json:"bizDate"`
	Complete      bool        `json:"complete" doc:"true: all items of the menu; false: only the changed ones."`
	IsPaused      bool        `json:"isPaused" doc:"Whether ordering is paused; the menu has the reason and the end."`
	IsClosed      bool        `json:"isClosed" doc:"Whether the branch is closed by its opening hours; the menu has the next opening."`
	CartVersion   *int64      `json:"cartVersion" doc:"Version of the table's shared cart; if it changes, read the cart again. null: each phone has its own cart."`
	Items         []remaining `json:"items"`
}

type remaining struct {
	ItemID    string `json:"itemId"`
	IsActive  bool   `json:"isActive"`
	IsSoldOut bool   `json:"isSoldOut"`
	Remaining *int64 `json:"remaining" doc:"null if there is no quota."`

	SoldOutOptions []string `json:"soldOutOptions,omitempty" doc:"Options of the dish that cannot be ordered now; absent if all can."`
}

// open admits a stream of a branch's menu and of the shared cart of the visit.
func (l *liveRoutes) open(ctx context.Context, in *liveIn) (httpapi.Feed, error) {
	branch, key, err := l.guests.BranchOf(ctx, string(in.CustomerToken))
	if err != nil {
		return httpapi.Feed{}, err
	}
	if id, ok := parseID(in.BranchID); !ok || id != branch {
		return httpapi.Feed{}, catalog.ErrBranch // another branch is reported as unknown
	}
	// The feed's End ends the subscriptions, even if the stream is refused by a limit.
	// Both subscriptions begin before the first read, so that no change is missed.
	changed, unsubscribe := l.menus.Subscribe(branch)
	leave, err := l.guests.FollowCart(ctx, string(in.CustomerToken), changed)
	if err != nil {
		unsubscribe()
		return httpapi.Feed{}, err
	}
	end := func() {
		unsubscribe()
		leave()
	}
	first, err := l.read(ctx, branch, string(in.CustomerToken), nil)
	if err != nil {
		end()
		return httpapi.Feed{}, err
	}
	return httpapi.Feed{Key: key, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		l.follow(ctx, s, string(in.CustomerToken), first, in.LastEventID, changed)
	}}, nil
}

// state is the content of a stream: the live menu, and the version of the table's cart, nil if carts are not shared.
type state struct {
	*catalog.LiveMenu
	cart *int64
}

// read returns the current state, and old if there is an error or nothing has changed.
func (l *liveRoutes) read(ctx context.Context, branch int64, token string, old *state) (*state, error) {
	menu, err := l.menus.Get(ctx, branch)
	if err != nil {
		return old, err
	}
	next := &state{LiveMenu: menu}
	if menu.Branch.SharedCart {
		version, err := l.guests.CartVersion(ctx, token)
		if err != nil {
			return old, err
		}
		next.cart = &version
	}
	if old != nil && old.LiveMenu == menu && sameCart(old.cart, next.cart) {
		return old, nil
	}
	return next, nil
}

// follow sends the full state unless the client has seen it, and then the changes, until the guest's visit ends. Access is
// checked without a change too, so that the stream ends soon after the visit.
func (l *liveRoutes) follow(
	ctx context.Context, s *httpapi.Stream, token string, now *state, seen string, changed <-chan struct{},
) {
	var sent *state
	if liveID(now) == seen {
		sent = now
	}
	first := true
	s.Follow(ctx, httpapi.Followed{
		Changed: changed, Poll: pollInterval, Check: httpapi.GuestCheck,
		Admit: func(ctx context.Context) (context.Context, error) {
			_, _, err := l.guests.BranchOf(ctx, token)
			return ctx, err
		},
		Show: func(ctx context.Context) (err error) {
			if !first { // the state was read when the stream was opened
				if now, err = l.read(ctx, now.Branch.ID, token, now); err != nil {
					return err
				}
			}
			first = false
			event, err := l.events.between(sent, now)
			sent = now
			if err != nil || event == nil {
				return err
			}
			return s.SendFrame(event)
		},
	})
}

// liveID returns a digest of a live menu's content. It is used as the event id: a client that reconnects to any
// process with the current id does not receive the same state again.
func liveID(b *state) string {
	sum := sha256.New()
	fmt.Fprint(sum, b.VersionID, b.Date)
	if b.Pause != nil {
		fmt.Fprint(sum, *b.Pause)
	}
	if b.Closure != nil {
		fmt.Fprint(sum, b.Closure.OpensAt.UnixMilli())
	}
	for i := range b.Items {
		fmt.Fprint(sum, itemStateOf(b.LiveMenu, &b.Items[i]))
	}
	if b.cart != nil {
		fmt.Fprint(sum, "cart", *b.cart)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// differences returns the changes from sent to menu, or nil if there are none. A new version or business date sends
// every item again, because the client cannot compare items across them.
func differences(sent, menu *state) *availability {
	if sent == menu || sent != nil && sent.LiveMenu == menu.LiveMenu && sameCart(sent.cart, menu.cart) {
		return nil
	}
	a := &availability{
		MenuVersionID: httpapi.FormatID(menu.VersionID), BizDate: menu.Date, Items: []remaining{},
		IsPaused: menu.Pause != nil, IsClosed: menu.Closure != nil, CartVersion: menu.cart,
		Complete: sent == nil || sent.VersionID != menu.VersionID || sent.Date != menu.Date,
	}
	for i := range menu.Items {
		it := &menu.Items[i]
		if now := itemStateOf(menu.LiveMenu, it); a.Complete || now != itemStateOf(sent.LiveMenu, it) {
			a.Items = append(a.Items, now.response())
		}
	}
	if !a.Complete && len(a.Items) == 0 && samePause(sent.Pause, menu.Pause) && sameClosure(sent.Closure, menu.Closure) &&
		sameCart(sent.cart, menu.cart) {
		return nil
	}
	return a
}

// sameCart reports whether two versions of the table's cart are the same.
func sameCart(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// samePause reports whether two pauses show guests the same.
func samePause(a, b *catalog.Pause) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Code == b.Code && a.Until.Equal(b.Until) && maps.Equal(a.Texts, b.Texts)
}

// sameClosure reports whether two closures show guests the same.
func sameClosure(a, b *catalog.Closure) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.OpensAt.Equal(b.OpensAt)
}

// itemState is the availability of an item as a comparable value.
type itemState struct {
	item            int64
	active, limited bool
	left            int64
	options         string // ids of the options that cannot be ordered, separated by spaces
}

func itemStateOf(b *catalog.LiveMenu, it *catalog.Item) itemState {
	r := itemState{item: it.ID, active: it.Offered(catalog.DineIn)}
	r.left, r.limited = b.Left(it.ID)
	for _, id := range b.Unavailable(it) {
		r.options += " " + httpapi.FormatID(id)
	}
	return r
}

func (r itemState) response() remaining {
	out := remaining{ItemID: httpapi.FormatID(r.item), IsActive: r.active, IsSoldOut: r.limited && r.left == 0}
	out.SoldOutOptions = strings.Fields(r.options)
	if r.limited {
		out.Remaining = &r.left
	}
	return out
}

// sharedEvents encodes each event once for all streams that send it: nearly all guests of a branch have seen the same
// menu before a change. It is safe for concurrent use.
type sharedEvents struct {
	mu       sync.Mutex
	byBranch map[int64]*branchEvents
}

// branchEvents has the events that lead to one live menu.
type branchEvents struct {
	menu   *catalog.LiveMenu
	events map[eventKey]*sharedEvent
}

// eventKey identifies what a client has seen and the unchanged version of its table's cart; -1 without a shared cart.
type eventKey struct {
	sent *catalog.LiveMenu
	cart int64
}

// sharedEvent is an event that the first stream encodes.
type sharedEvent struct {
	once  sync.Once
	frame httpapi.Frame
	err   error
}

// between returns the event that changes sent to now, or nil if there is no difference.
func (e *sharedEvents) between(sent, now *state) (httpapi.Frame, error) {
	switch {
	case sent == now:
		return nil, nil
	case now.cart == nil && sent == nil:
		return e.event(now.LiveMenu, eventKey{nil, -1}).encode(sent, now)
	case now.cart == nil:
		return e.event(now.LiveMenu, eventKey{sent.LiveMenu, -1}).encode(sent, now)
	case sent != nil && sameCart(sent.cart, now.cart):
		return e.event(now.LiveMenu, eventKey{sent.LiveMenu, *now.cart}).encode(sent, now)
	default: // only the phones of one table have changed this cart
		return (&sharedEvent{}).encode(sent, now)
	}
}

// encode returns the event, which the first call encodes.
func (s *sharedEvent) encode(sent, now *state) (httpapi.Frame, error) {
	s.once.Do(func() {
		if data := differences(sent, now); data != nil {
			s.frame, s.err = httpapi.Event{ID: liveID(now), Name: "availability", Data: data}.Frame()
		}
	})
	return s.frame, s.err
}

// event returns the shared event of a key. Those of the branch's previous menu are dropped, so the memory is bounded by
// the streams that have not sent the newest one yet.
func (e *sharedEvents) event(menu *catalog.LiveMenu, key eventKey) *sharedEvent {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.byBranch[menu.Branch.ID]
	if b == nil || b.menu != menu {
		b = &branchEvents{menu, map[eventKey]*sharedEvent{}}
		e.byBranch[menu.Branch.ID] = b
	}
	s := b.events[key]
	if s == nil {
		s = &sharedEvent{}
		b.events[key] = s
	}
	return s
}
