package cataloghttp

import (
	"sync"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

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
