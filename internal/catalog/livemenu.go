package catalog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"comanda/internal/live"
)

// Levels reports how many of a branch's items can still be sold on a business date. An item without a counter yet may
// be missing from the result, and the result may have items that are limited by stock instead of a quota. A negative
// number means no limit. It must be safe for concurrent use. Each load of a live menu calls it once.
type Levels interface {
	Left(ctx context.Context, branch int64, date string, items []int64) (map[int64]int64, error)
}

// RefreshInterval is the interval at which live menus with subscribers are read without a notification. So guests see
// changes that come with time, such as a pause that ends, and those of programs that notify no one.
const RefreshInterval = 250 * time.Millisecond

// liveMenuAges limits the age of remaining units to a quarter of a second.
var liveMenuAges = cacheAges{fresh: 200 * time.Millisecond, linger: 250 * time.Millisecond, stale: 5 * time.Minute}

// LiveMenu is a branch's menu with today's remaining units. It is immutable and may be shared.
type LiveMenu struct {
	*Snapshot
	Date  string // business date
	Pause *Pause // nil while the branch is not paused
	// Closure is nil while the branch takes orders by its hours. HoursChange is the next change of Closure; zero:
	// never.
	Closure     *Closure
	HoursChange time.Time

	left map[int64]int64 // also of options, see OptionLevel
	// lacking has the items whose required groups have too few available options. It follows from left and Snapshot.
	lacking []int64
}

// Left returns how many units of an item can still be sold today; limited is false if nothing limits it. It never
// exceeds the quota: before the first order of the day the level may only reflect stock.
func (m *LiveMenu) Left(item int64) (left int64, limited bool) {
	if slices.Contains(m.lacking, item) {
		return 0, true
	}
	return m.counted(item)
}

// counted is Left by quota and stock alone. It also accepts the level of an option.
func (m *LiveMenu) counted(item int64) (left int64, limited bool) {
	quota, limited := m.Quota(item)
	left, known := m.left[item]
	if !known || limited && left > quota {
		return quota, limited
	}
	return max(0, left), left >= 0
}

// OfDish returns the first item with units left that sells a dish to one of these kinds of orders, else the item of
// Edition.OfDish. Menus for delivery and for pick-up may both have a dish: it is sold out only if it is on both.
func (m *LiveMenu) OfDish(dish int64, kinds ...OrderKind) (it Item, ok bool) {
	for _, i := range m.dish[dish] {
		it := &m.Items[i]
		if left, limited := m.Left(it.ID); it.Active && it.Shown(kinds...) && (!limited || left > 0) {
			return *it, true
		}
	}
	return m.Snapshot.OfDish(dish, kinds...)
}

// LiveMenus serves live menus from memory and notifies subscribers of changes. It is safe for concurrent use.
type LiveMenus struct {
	menus  *MenuCache
	levels Levels
	now    func() time.Time
	cache  *readThrough[*LiveMenu]
	hub    hub
}

// NewLiveMenus returns an empty cache.
func NewLiveMenus(menus *MenuCache, levels Levels, now func() time.Time) *LiveMenus {
	l := &LiveMenus{menus: menus, levels: levels, now: now}
	l.cache = newReadThrough(liveMenuAges, now, l.load)
	l.cache.changed = func(branch int64) { l.hub.topic.Notify(branch) }
	return l
}

// Get returns a branch's live menu, at most 250 ms old. An unchanged menu is the same pointer.
func (l *LiveMenus) Get(ctx context.Context, branch int64) (*LiveMenu, error) {
	return l.cache.get(ctx, branch)
}

// load returns the live menu of a branch. If nothing has changed, it returns old itself.
func (l *LiveMenus) load(ctx context.Context, branch int64, old **LiveMenu) (*LiveMenu, error) {
	menu, err := l.menus.Active(ctx, branch)
	if err != nil {
		return nil, err
	}
	now := l.now()
	next := &LiveMenu{Snapshot: menu, Date: menu.Branch.Calendar().BizDate(now), Pause: menu.Branch.Paused(now)}
	next.Closure, next.HoursChange = menu.Branch.Closed(now)
	// Only items with a quota have a counter. Levels returns limits by stock for other items too.
	var counted []int64
	for i := range menu.Items {
		it := &menu.Items[i]
		// An option of a combo may stand for a dish that is not on the menu itself.
		for _, id := range components([]int64{it.ID}, it.Groups) {
			if _, limited := menu.Quota(id); limited && !slices.Contains(counted, id) {
				counted = append(counted, id)
			}
		}
	}
	left, err := l.levels.Left(ctx, branch, next.Date, counted)
	if err != nil {
		return nil, err
	}
	next.left = left
	for _, item := range menu.Off {
		next.left[item] = 0 // the admission cache may lag behind SQL
	}
	for i := range menu.Items {
		if it := &menu.Items[i]; !next.canChoose(it.Groups) {
			next.lacking = append(next.lacking, it.ID)
		}
	}
	// Pages and streams compare pointers, so an unchanged menu is neither rendered nor sent again.
	if old != nil && (*old).equal(next) {
		return *old, nil
	}
	return next, nil
}

// equal reports whether two live menus have the same content.
func (m *LiveMenu) equal(next *LiveMenu) bool {
	return m.Snapshot == next.Snapshot && m.Date == next.Date && m.Pause == next.Pause &&
		(m.Closure == nil) == (next.Closure == nil) && m.HoursChange.Equal(next.HoursChange) && maps.Equal(m.left, next.left)
}

// minNotifyInterval is the minimum time between two reads of a branch for changed levels. It equals RefreshInterval. So
// a burst of orders costs no more reads than polling, and after a quiet period a change is read at once.
const minNotifyInterval = 250 * time.Millisecond

// hub holds the subscribers of live menus, by branch. The zero value is ready.
type hub struct {
	topic live.Topic[int64]

	mu      sync.Mutex
	pending map[int64]bool // branches read less than minNotifyInterval ago: whether they have changed since
}

// Subscribe returns a channel that receives when a branch's live menu has changed, and a function that ends the
// subscription. Subscribe before the first Get. Subscribers are notified after the new menu has been read, so reading it
// costs them nothing, however many they are.
func (l *LiveMenus) Subscribe(branch int64) (changed chan struct{}, unsubscribe func()) {
	return l.hub.topic.Subscribe(branch)
}

// Refresh starts reading the menu of each branch with subscribers, unless it was read within RefreshInterval. A server
// calls it at that interval. It does not wait for the reads.
func (l *LiveMenus) Refresh() {
	for _, branch := range l.hub.topic.Keys() {
		l.cache.refresh(branch)
	}
}

// LevelsChanged reads a branch again because its remaining units may have changed, at most once per minNotifyInterval.
// It never blocks.
func (l *LiveMenus) LevelsChanged(branch int64) {
	if !l.hub.topic.Subscribed(branch) {
		return // without a subscriber the cached menu need not be invalidated; it expires soon
	}
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if _, throttled := l.hub.pending[branch]; throttled {
		l.hub.pending[branch] = true
		return
	}
	l.reload(branch)
	l.throttle(branch)
}

// throttle delays the branch's next read by minNotifyInterval. The caller holds the lock.
func (l *LiveMenus) throttle(branch int64) {
	h := &l.hub
	if h.pending == nil {
		h.pending = map[int64]bool{}
	}
	h.pending[branch] = false
	// The timer is not stopped when the last subscriber leaves. It then finds no change and is not started again.
	time.AfterFunc(minNotifyInterval, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.pending[branch] {
			l.reload(branch)
			l.throttle(branch)
			return
		}
		delete(h.pending, branch)
	})
}

// MenuChanged reads a branch again because it, its menu or its quotas changed. Readers wait for the new state.
func (l *LiveMenus) MenuChanged(branch int64) {
	l.menus.InvalidateLocal(branch)
	l.reload(branch)
}

// AllChanged reads all branches with subscribers again and notifies the subscribers. It is called when notifications of
// other processes may have been lost.
func (l *LiveMenus) AllChanged() {
	for _, branch := range l.hub.topic.Keys() {
		l.MenuChanged(branch)
		l.hub.topic.Notify(branch)
	}
}

// reload invalidates the cached menu of a branch, and reads it if it has subscribers. They are notified if it has
// changed.
func (l *LiveMenus) reload(branch int64) {
	l.cache.invalidate(branch)
	if l.hub.topic.Subscribed(branch) {
		l.cache.refresh(branch)
	}
}

// DishSale has a branch's stock and sales of a dish, and whether the branch can sell it now. It is part of the dish's
// document.
type DishSale struct {
	Stock     *int64 `json:"stock"` // units left; nil without a limit, and while the dish is not offered
	SoldToday int64  `json:"soldToday"`
	Available bool   `json:"available"`
}

// DishSales contains the sales of a dish, by branch.
type DishSales map[int64]DishSale

// Stock returns the units left in all branches that can sell the dish; limited is false if one of them has no limit.
func (s DishSales) Stock() (units int64, limited bool) {
	for _, b := range s {
		if b.Available && b.Stock == nil {
			return 0, false
		}
		if b.Available {
			units += *b.Stock
		}
	}
	return units, len(s) > 0
}

// SoldToday returns the units sold in all branches.
func (s DishSales) SoldToday() (units int64) {
	for _, b := range s {
		units += b.SoldToday
	}
	return units
}

// Available reports whether a branch can sell the dish now.
func (s DishSales) Available() bool {
	for _, b := range s {
		if b.Available {
			return true
		}
	}
	return false
}

// Sales returns the sale of every dish on the branch's published menus. used has the units that are sold, by item. A dish
// on several menus has the sum of their sold units, and the units left of the menu that offers it now.
func (m *LiveMenu) Sales(used map[int64]int64) map[int64]DishSale {
	all := make(map[int64]DishSale, len(m.published.Items))
	for i := range m.published.Items {
		if it := &m.published.Items[i]; it.Active {
			s := all[it.DishID]
			s.SoldToday += used[it.ID]
			all[it.DishID] = s
		}
	}
	open := m.Branch.Open && m.Pause == nil && m.Closure == nil
	for i := range m.Items { // of the menus in force; an item that another menu offers is not active here
		it := &m.Items[i]
		s, known := all[it.DishID]
		if !it.Active || !known || s.Available {
			continue
		}
		left, limited := m.Left(it.ID)
		if limited {
			s.Stock = &left
		}
		s.Available = open && (!limited || left > 0)
		all[it.DishID] = s
	}
	return all
}
