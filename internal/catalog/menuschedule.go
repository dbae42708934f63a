package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"comanda/internal/fault"
)

// MaxMenuPriority is the highest priority of a menu.
const MaxMenuPriority = 100

// MenuGrace is how long after the end of its schedule a menu can still be ordered from. A guest who chose lunch at its
// last minute gets it.
const MenuGrace = 10 * time.Minute

// MenuSchedule limits the hours at which a menu is offered, and the kinds of orders. The zero value limits neither.
//
// Of the menus that match an instant and a kind of order, those with the highest priority are in force. So a lunch menu
// with the priority of the main menu is offered beside it, and the menu of a holiday with a higher one replaces both.
type MenuSchedule struct {
	Weekly      map[Weekday][]Period `json:"weekly" doc:"By mon, tue, wed, thu, fri, sat, sun, in local time. Without any day the menu is offered at all hours."`
	FromDate    string               `json:"fromDate" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" doc:"First business date, such as 2026-12-24; empty: no limit."`
	ThroughDate string               `json:"throughDate" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" doc:"Last business date; empty: no limit."`
	Kinds       []OrderKind          `json:"kinds" text:"exact" maxItems:"3" doc:"Kinds of orders that it is offered to; empty: all."`
	Priority    int                  `json:"priority" minimum:"0" maximum:"100" doc:"Only the menus with the highest priority are offered at a time."`
}

// Empty reports whether the schedule is the zero value.
func (m MenuSchedule) Empty() bool {
	return len(m.Weekly) == 0 && m.FromDate == "" && m.ThroughDate == "" && len(m.Kinds) == 0 && m.Priority == 0
}

// Filled returns the schedule without nil members, so that JSON has empty ones and not null.
func (m MenuSchedule) Filled() MenuSchedule {
	m.Weekly = OpeningHours{Weekly: m.Weekly}.Filled().Weekly
	if m.Kinds == nil {
		m.Kinds = []OrderKind{}
	}
	return m
}

// timed reports whether the schedule limits the time.
func (m MenuSchedule) timed() bool {
	return len(m.Weekly) > 0 || m.FromDate != "" || m.ThroughDate != ""
}

// invalidSchedule refuses a schedule and names the field that is wrong.
func invalidSchedule(field, format string, args ...any) error {
	return fault.Newf(fault.Invalid, "invalid", format, args...).With("field", field)
}

// compile validates the schedule and returns it for a branch's calendar; nil for one without limits of time.
func (m MenuSchedule) compile(c *Calendar) (*schedule, error) {
	if m.Priority < 0 || m.Priority > MaxMenuPriority {
		return nil, invalidSchedule("priority", "A priority is a whole number from 0 to %d.", MaxMenuPriority)
	}
	for i, k := range m.Kinds {
		if !slices.Contains(orderKinds, k) || slices.Contains(m.Kinds[:i], k) {
			return nil, invalidSchedule(fmt.Sprintf("kinds[%d]", i), "Kinds of orders are %v, each at most once.", orderKinds)
		}
	}
	dates := []struct{ field, date string }{{"fromDate", m.FromDate}, {"throughDate", m.ThroughDate}}
	for _, d := range dates {
		if _, err := time.Parse(dateLayout, d.date); d.date != "" && err != nil {
			return nil, invalidSchedule(d.field, "A date must look like 2026-12-24.")
		}
	}
	if m.FromDate != "" && m.ThroughDate != "" && m.ThroughDate < m.FromDate {
		return nil, invalidSchedule("throughDate", "The last date is before the first.")
	}
	s, err := newSchedule("", OpeningHours{Weekly: m.Weekly}, c)
	if err != nil || s == nil && !m.timed() {
		return nil, err
	}
	if s == nil {
		s = &schedule{calendar: c}
	}
	s.limit(m.FromDate, m.ThroughDate)
	return s, nil
}

// maxYear is the last year that dates can have.
const maxYear = 9999

// limit limits the schedule to business dates, both included; empty: no limit. They begin and end with the business day, and
// so after midnight. A period of the day before may last into the first one. 9999-12-31 is no limit: the date after it
// has five digits, so its text would come before all others.
func (s *schedule) limit(from, through string) {
	if d, err := time.Parse(dateLayout, from); err == nil {
		s.first, s.begin = d.AddDate(0, 0, -1).Format(dateLayout), s.calendar.boundary(d)
	}
	d, err := time.Parse(dateLayout, through)
	if next := d.AddDate(0, 0, 1); err == nil && next.Year() <= maxYear {
		s.final, s.end = next.Format(dateLayout), s.calendar.boundary(next)
	}
}

// Check returns an error if the schedule is not valid.
func (m MenuSchedule) Check(c *Calendar) error {
	_, err := m.compile(c)
	return err
}

// PublishedMenu is a menu that has a published version.
type PublishedMenu struct {
	MenuID    int64        `json:"menuId"`
	VersionID int64        `json:"versionId"`
	Schedule  MenuSchedule `json:"schedule"`
}

// MenuPart is a version of a combination of menus.
type MenuPart struct {
	VersionID int64       `json:"v"`
	Kinds     []OrderKind `json:"k,omitempty"` // kinds of orders that it is offered to; empty: all
}

// firstCombination is the smallest id of a combination. Ids of versions count from 1 and never get there.
const firstCombination = 100_000_000_000_000_000

// IsCombination reports whether a menu version id names a combination of versions.
func IsCombination(id int64) bool { return id >= firstCombination }

// CombinationID returns the id of versions that a branch offers together: that of the version if one is offered to all
// orders, else a number of 18 digits that every process computes alike, without asking the database.
func CombinationID(branch int64, parts []MenuPart) int64 {
	if len(parts) == 1 && len(parts[0].Kinds) == 0 {
		return parts[0].VersionID
	}
	text, _ := json.Marshal(parts) // integers and words
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", branch, text))
	return firstCombination + int64(binary.BigEndian.Uint64(sum[:8])%(8*firstCombination))
}

// menuSet contains the published menus of a branch with their compiled schedules. It is immutable.
type menuSet struct {
	menus     []PublishedMenu // in the order in which a dish on several of them is taken
	schedules []*schedule     // nil: at all hours
}

func newMenuSet(menus []PublishedMenu, c *Calendar) (menuSet, error) {
	m := menuSet{menus: SortMenus(menus), schedules: make([]*schedule, len(menus))}
	for i, p := range m.menus {
		var err error
		if m.schedules[i], err = p.Schedule.compile(c); err != nil {
			return m, err
		}
	}
	return m, nil
}

// SortMenus returns menus in the order in which a dish that is on several of them is offered: menus for certain hours
// come first, because their prices are the exception.
func SortMenus(menus []PublishedMenu) []PublishedMenu {
	menus = slices.Clone(menus)
	slices.SortFunc(menus, func(a, b PublishedMenu) int {
		if x, y := a.Schedule.timed(), b.Schedule.timed(); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.MenuID, b.MenuID)
	})
	return menus
}

// offers reports whether a menu of the set is in force for a kind of order at an instant.
func (m menuSet) offers(i int, kind OrderKind, at time.Time) bool {
	if !m.matches(i, kind, at) {
		return false
	}
	for other := range m.menus {
		if m.menus[other].Schedule.Priority > m.menus[i].Schedule.Priority && m.matches(other, kind, at) {
			return false
		}
	}
	return true
}

// matches reports whether a menu's own schedule allows a kind of order at an instant.
func (m menuSet) matches(i int, kind OrderKind, at time.Time) bool {
	kinds := m.menus[i].Schedule.Kinds
	if len(kinds) > 0 && !slices.Contains(kinds, kind) {
		return false
	}
	return m.schedules[i] == nil || m.schedules[i].at(at).open
}

// at returns the versions in force at an instant, and when that may change next; zero: never.
func (m menuSet) at(t time.Time) (parts []MenuPart, changes time.Time) {
	parts = []MenuPart{}
	for i, p := range m.menus {
		if s := m.schedules[i]; s != nil {
			if end := s.at(t).end; !end.IsZero() && (changes.IsZero() || end.Before(changes)) {
				changes = end
			}
		}
		var kinds []OrderKind
		for _, k := range orderKinds {
			if m.offers(i, k, t) {
				kinds = append(kinds, k)
			}
		}
		switch len(kinds) {
		case 0:
			continue
		case len(orderKinds):
			kinds = nil
		}
		parts = append(parts, MenuPart{p.VersionID, kinds})
	}
	return parts, changes
}

// ends returns when the menus with hours that are offered at an instant end.
func (m menuSet) ends(t time.Time) map[int64]time.Time {
	var ends map[int64]time.Time
	for i, s := range m.schedules {
		if s == nil {
			continue
		}
		if p := s.at(t); p.open && !p.end.IsZero() {
			if ends == nil {
				ends = map[int64]time.Time{}
			}
			ends[m.menus[i].VersionID] = p.end
		}
	}
	return ends
}

// Ends returns when the menu of an item ends by its hours; zero: never, or not known.
func (s *Snapshot) Ends(it Item) time.Time { return s.ends[s.VersionOf(it)] }

// Combine returns the items of an edition that belong to the parts, under the parts' id. A dish that several parts offer
// to the same kinds of orders is offered by the first of them, and an item that is not active is shown if none offers its
// dish. The regular price is that of the last part that offers the dish, which is a menu without hours if there is one, see
// SortMenus; the lowest one, if it differs among the kinds.
func (e *Edition) Combine(parts []MenuPart) *Edition {
	id := CombinationID(e.BranchID, parts)
	if id == e.VersionID && !IsCombination(id) {
		return e // it has only this version
	}
	place := make(map[int64]int, len(parts))
	for i, p := range parts {
		place[p.VersionID] = i
	}
	offers := e.offersOf(parts, place)
	var items []Item
	for _, it := range e.Items {
		version := e.VersionOf(it)
		part, ok := place[version]
		if !ok {
			continue
		}
		it.Kinds, it.Version = nil, 0
		kinds, regular := offers.of(it, part, parts[part].kinds())
		if it.Regular = 0; regular > it.Price {
			it.Regular = regular
		}
		switch {
		case len(kinds) == 0: // it stays, because it may be a part of a combo
			it.Active, it.Kinds = false, []OrderKind{noKind}
		case len(kinds) < len(orderKinds):
			it.Kinds = kinds
		}
		if id != version {
			it.Version = version
		}
		items = append(items, it)
	}
	categories := slices.DeleteFunc(slices.Clone(e.Categories), func(c Category) bool {
		return !slices.ContainsFunc(items, func(it Item) bool { return it.CategoryID == c.ID })
	})
	return NewEdition(id, e.BranchID, categories, items)
}

// dishOffer is a dish that is offered to a kind of orders.
type dishOffer struct {
	dish int64
	kind OrderKind
}

// dishOffers are the first and the last part that offers each dish to a kind of orders, and the price on the last one.
type dishOffers struct {
	first, last map[dishOffer]int
	price       map[dishOffer]int64
}

func (e *Edition) offersOf(parts []MenuPart, place map[int64]int) dishOffers {
	all := dishOffers{map[dishOffer]int{}, map[dishOffer]int{}, map[dishOffer]int64{}}
	for _, it := range e.Items {
		part, ok := place[e.VersionOf(it)]
		if !ok || !it.Active {
			continue
		}
		for _, k := range parts[part].kinds() {
			o := dishOffer{it.DishID, k}
			if known, ok := all.first[o]; !ok || part < known {
				all.first[o] = part
			}
			if known, ok := all.last[o]; !ok || part > known {
				all.last[o], all.price[o] = part, it.Price
			}
		}
	}
	return all
}

// of returns the kinds of orders, of those of its part, that are offered an item, or shown one that is not active, and the
// lowest regular price among them; 0 for one that is not active.
func (all dishOffers) of(it Item, part int, partKinds []OrderKind) (kinds []OrderKind, regular int64) {
	for _, k := range partKinds {
		o := dishOffer{it.DishID, k}
		first, offered := all.first[o]
		if it.Active && first != part || !it.Active && offered {
			continue
		}
		if kinds = append(kinds, k); len(kinds) == 1 || all.price[o] < regular {
			regular = all.price[o]
		}
	}
	return kinds, regular
}

// noKind marks an item that no kind of order is offered, because another menu offers the dish.
const noKind OrderKind = "NONE"

func (p MenuPart) kinds() []OrderKind {
	if len(p.Kinds) == 0 {
		return orderKinds
	}
	return p.Kinds
}

// Offered reports whether the item is offered to a kind of order.
func (it *Item) Offered(kind OrderKind) bool {
	return it.Active && (len(it.Kinds) == 0 || slices.Contains(it.Kinds, kind))
}

// Shown reports whether the item is on the menu for one of these kinds of orders, even if it is not active. Without
// kinds, it reports whether it is on the menu for any.
func (it *Item) Shown(kinds ...OrderKind) bool {
	if len(kinds) == 0 {
		kinds = orderKinds
	}
	return len(it.Kinds) == 0 || slices.ContainsFunc(kinds, func(k OrderKind) bool { return slices.Contains(it.Kinds, k) })
}

// VersionOf returns the version that an item of the edition belongs to.
func (e *Edition) VersionOf(it Item) int64 { return cmp.Or(it.Version, e.VersionID) }

// InForce reports whether an item's menu is in force for a kind of order, or was within the last MenuGrace. A version
// that is not published in this process's copy is in force: only SQL knows whether it was just published or closed.
func (s *Snapshot) InForce(it Item, kind OrderKind, now time.Time) bool {
	version := s.VersionOf(it)
	i := slices.IndexFunc(s.menus.menus, func(p PublishedMenu) bool { return p.VersionID == version })
	return i < 0 || s.menus.offers(i, kind, now) || s.menus.offers(i, kind, now.Add(-MenuGrace))
}
