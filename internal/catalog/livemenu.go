package catalog

import (
	"context"
	"maps"
	"time"
)

// Levels reports how many of a branch's items can still be sold on a business date. An item without a counter yet may
// be missing from the result, and the result may have items that are limited by stock instead of a quota. A negative
// number means no limit. It must be safe for concurrent use. Each load of a live menu calls it once.
type Levels interface {
	Left(ctx context.Context, branch int64, date string, items []int64) (map[int64]int64, error)
}

// liveMenuAges limits the age of remaining units to a quarter of a second.
var liveMenuAges = cacheAges{fresh: 200 * time.Millisecond, linger: 250 * time.Millisecond, stale: 5 * time.Minute}

// LiveMenu is a branch's menu with today's remaining units. It is immutable and may be shared.
type LiveMenu struct {
	*Snapshot
	Date  string // business date
	Pause *Pause // nil while the branch is not paused
	// Closure is nil while the branch takes orders by its hours. HoursChange is when that changes next; zero: never.
	Closure     *Closure
	HoursChange time.Time

	left map[int64]int64
}

// Left returns how many units of an item can still be sold today; limited is false if nothing limits it. It never
// exceeds the quota: before the first order of the day the level may only reflect stock.
func (m *LiveMenu) Left(item int64) (left int64, limited bool) {
	quota, limited := m.Quota(item)
	left, counted := m.left[item]
	if !counted || limited && left > quota {
		return quota, limited
	}
	return max(0, left), left >= 0
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
	return l
}

// Get returns a branch's live menu, at most 250 ms old. An unchanged menu is the same pointer.
func (l *LiveMenus) Get(ctx context.Context, branch int64) (*LiveMenu, error) {
	return l.cache.get(ctx, branch)
}

// load returns the live menu of a branch, and old itself if it shows the same.
func (l *LiveMenus) load(ctx context.Context, branch int64, old **LiveMenu) (*LiveMenu, error) {
	menu, err := l.menus.Active(ctx, branch)
	if err != nil {
		return nil, err
	}
	now := l.now()
	next := &LiveMenu{Snapshot: menu, Date: menu.Branch.Calendar().BizDate(now), Pause: menu.Branch.Paused(now)}
	next.Closure, next.HoursChange = menu.Branch.Closed(now)
	// Only items with a quota have a counter. Limits by stock are in the result without being asked for, see Levels.
	var counted []int64
	for i := range menu.Items {
		if _, limited := menu.Quota(menu.Items[i].ID); limited {
			counted = append(counted, menu.Items[i].ID)
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
	// Pages and streams compare pointers, so an unchanged menu is neither rendered nor sent again.
	if old != nil && (*old).equal(next) {
		return *old, nil
	}
	return next, nil
}

// equal reports whether two live menus show the same.
func (m *LiveMenu) equal(next *LiveMenu) bool {
	return m.Snapshot == next.Snapshot && m.Date == next.Date && m.Pause == next.Pause &&
		(m.Closure == nil) == (next.Closure == nil) && m.HoursChange.Equal(next.HoursChange) && maps.Equal(m.left, next.left)
}
