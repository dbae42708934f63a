package catalog

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
)

// The limits of opening hours. They bound the size of a branch's row and the work of computing a change.
const (
	MaxPeriods       = 4 // per day
	MaxExceptions    = 100
	MaxExceptionNote = 80 // characters
)

// ClosingGrace is how long after closing an order is still accepted. A guest who sees an open restaurant may send the
// cart at the last moment; refusing it then is worse than cooking one more order.
const ClosingGrace = 5 * time.Minute

// maxHorizon limits the search for the next change, in days. An exception further away is found when it comes closer.
const maxHorizon = 400

// ErrClosed refuses an order while its branch is closed.
var ErrClosed = fault.New(fault.Conflict, "branch_closed", "The restaurant is not taking orders right now.")

// Weekday is a day of the week in opening hours.
type Weekday string

// weekdays lists the days by their number in package time.
var weekdays = [...]Weekday{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// Period is a time in which a branch is open, in local time. It begins on its day and ends before To. If To is not after
// From, it ends on the next day; equal times are 24 hours.
type Period struct {
	From string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"Local time, such as 11:00."`
	To   string `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"Local time. If it is not later than from, it is on the next day."`
}

// HoursException replaces the periods of one date. Without periods the branch is closed on that date.
type HoursException struct {
	Date    string   `json:"date" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`
	Periods []Period `json:"periods" maxItems:"4" doc:"Empty: closed."`
	Note    string   `json:"note,omitempty" text:"line" maxLength:"80" doc:"Such as the name of a holiday."`
}

// OpeningHours are the hours in which guests can order. Without weekly periods a branch is open on every day without an
// exception.
type OpeningHours struct {
	Weekly     map[Weekday][]Period `json:"weekly" doc:"By mon, tue, wed, thu, fri, sat, sun. A day that is missing is closed; without any day it is open at all hours."`
	Exceptions []HoursException     `json:"exceptions" maxItems:"100" doc:"Dates with other hours."`
}

// Empty reports whether no hours are set: the branch is always open.
func (h OpeningHours) Empty() bool { return len(h.Weekly) == 0 && len(h.Exceptions) == 0 }

// Filled returns the hours without nil members, so that JSON has empty ones and not null.
func (h OpeningHours) Filled() OpeningHours {
	h.Weekly, h.Exceptions = maps.Clone(h.Weekly), slices.Clone(h.Exceptions)
	if h.Weekly == nil {
		h.Weekly = map[Weekday][]Period{}
	}
	if h.Exceptions == nil {
		h.Exceptions = []HoursException{}
	}
	for i, e := range h.Exceptions {
		if e.Periods == nil {
			h.Exceptions[i].Periods = []Period{}
		}
	}
	return h
}

// span is a period in minutes after midnight of its day. to may exceed a day.
type span struct{ from, to int }

// allDay is the span of a day without opening hours.
var allDay = []span{{0, dayMinutes}}

const dayMinutes = 24 * 60

// minuteOfDay parses a local time.
func minuteOfDay(s string) (int, bool) {
	t, err := time.Parse("15:04", s)
	return t.Hour()*60 + t.Minute(), err == nil && len(s) == len("15:04")
}

// invalidHours refuses opening hours and names the field that is wrong.
func invalidHours(field, format string, args ...any) error {
	return fault.Newf(fault.Invalid, "invalid", format, args...).With("field", field)
}

// spansOf validates the periods of a day and returns them by their start.
func spansOf(field string, periods []Period) ([]span, error) {
	if len(periods) > MaxPeriods {
		return nil, invalidHours(field, "A day has at most %d periods.", MaxPeriods)
	}
	spans := make([]span, len(periods))
	for i, p := range periods {
		from, ok := minuteOfDay(p.From)
		to, also := minuteOfDay(p.To)
		if !ok || !also {
			return nil, invalidHours(fmt.Sprintf("%s[%d]", field, i), "A period has times such as 11:00.")
		}
		if to <= from {
			to += dayMinutes
		}
		spans[i] = span{from, to}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	for i := range spans {
		if i > 0 && spans[i].from < spans[i-1].to {
			return nil, invalidHours(field, "Two periods of a day overlap.")
		}
	}
	return spans, nil
}

// schedule is the compiled form of opening hours. It is safe for concurrent use.
type schedule struct {
	weekly     map[time.Weekday][]span // nil: open all day
	exceptions map[string][]span
	calendar   *Calendar
	prefix     string // of field names in errors
	// Dates before the first and after the last have no spans; empty: no limit. On the dates themselves, spans are limited
	// to the time from begin to end; zero: no limit.
	first, final string
	begin, end   time.Time
	last         atomic.Pointer[phase]
}

// phase is an interval in which a branch is open or closed throughout.
type phase struct {
	open       bool
	start, end time.Time // end is zero if no change is known
}

// newSchedule validates opening hours and compiles them for a time zone. It returns nil for empty hours. prefix comes
// before the names of fields in errors.
func newSchedule(prefix string, h OpeningHours, c *Calendar) (*schedule, error) {
	if h.Empty() {
		return nil, nil //nolint:nilnil // nil means always open
	}
	s := &schedule{calendar: c, exceptions: map[string][]span{}, prefix: prefix}
	periods := 0
	for day, list := range h.Weekly {
		n := slices.Index(weekdays[:], day)
		if n < 0 {
			return nil, invalidHours(prefix+"weekly", "%q is not a weekday. Use mon, tue, wed, thu, fri, sat or sun.", string(day))
		}
		spans, err := spansOf(prefix+"weekly."+string(day), list)
		if err != nil {
			return nil, err
		}
		if s.weekly == nil {
			s.weekly = map[time.Weekday][]span{}
		}
		s.weekly[time.Weekday(n)] = spans
		periods += len(spans)
	}
	// A week without any period would close the branch permanently. There is a separate switch for that.
	if s.weekly != nil && periods == 0 {
		return nil, invalidHours(prefix+"weekly", "At least one weekday needs a period.")
	}
	if err := s.addExceptions(h.Exceptions); err != nil {
		return nil, err
	}
	return s, s.checkOvernight(h.Exceptions)
}

// addExceptions adds the days with other hours. A date may have one exception only: two would contradict each other.
func (s *schedule) addExceptions(list []HoursException) error {
	if len(list) > MaxExceptions {
		return invalidHours(s.prefix+"exceptions", "There are at most %d exceptions.", MaxExceptions)
	}
	for i, e := range list {
		field := fmt.Sprintf("%sexceptions[%d]", s.prefix, i)
		if _, err := time.Parse(dateLayout, e.Date); err != nil {
			return invalidHours(field+".date", "A date must look like 2026-12-24.")
		}
		if _, twice := s.exceptions[e.Date]; twice {
			return invalidHours(field+".date", "%s has two exceptions.", e.Date)
		}
		if utf8.RuneCountInString(e.Note) > MaxExceptionNote || !utf8.ValidString(e.Note) {
			return invalidHours(field+".note", "A note has at most %d characters.", MaxExceptionNote)
		}
		spans, err := spansOf(field+".periods", e.Periods)
		if err != nil {
			return err
		}
		s.exceptions[e.Date] = spans
	}
	return nil
}

// checkOvernight refuses a period past midnight that runs into a period of the next day. Only weekdays and the dates
// around exceptions can differ.
func (s *schedule) checkOvernight(list []HoursException) error {
	for n := range weekdays {
		if s.weekly != nil && overlaps(s.weekly[time.Weekday(n)], s.weekly[time.Weekday((n+1)%7)]) {
			return invalidHours(s.prefix+"weekly."+string(weekdays[n]), "A period runs into those of the next day.")
		}
	}
	for i, e := range list {
		date, _ := time.Parse(dateLayout, e.Date) // validated before
		if overlaps(s.on(date.AddDate(0, 0, -1)), s.on(date)) || overlaps(s.on(date), s.on(date.AddDate(0, 0, 1))) {
			return invalidHours(fmt.Sprintf("%sexceptions[%d].periods", s.prefix, i),
				"The hours of %s run into those of the day before or after.", e.Date)
		}
	}
	return nil
}

// overlaps reports whether the last period of a day ends after the first one of the next day begins.
func overlaps(day, next []span) bool {
	return len(day) > 0 && len(next) > 0 && day[len(day)-1].to > next[0].from+dayMinutes
}

// on returns the spans of a date. The date is midnight in UTC.
func (s *schedule) on(date time.Time) []span {
	day := date.Format(dateLayout)
	if day < s.first || s.final != "" && day > s.final {
		return nil
	}
	if spans, ok := s.exceptions[day]; ok {
		return spans
	}
	if s.weekly == nil {
		return allDay
	}
	return s.weekly[date.Weekday()]
}

// at returns the phase of an instant. It caches the last result, because most calls are about the present.
func (s *schedule) at(t time.Time) phase {
	if p := s.last.Load(); p != nil && !t.Before(p.start) && t.Before(p.end) {
		return *p
	}
	p := s.find(t)
	// A phase without an end may get one when the horizon has moved.
	if !p.end.IsZero() {
		s.last.Store(&p)
	}
	return p
}

// find computes the phase of an instant. The spans of consecutive days are ordered and never overlap, and neither do
// their instants, so the first gap after t ends the search.
func (s *schedule) find(t time.Time) phase {
	y, m, d := t.In(s.calendar.zone).Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	closed := s.calendar.instant(today.AddDate(0, 0, -2))
	var open phase
	// The search starts two days back: a period may last into the next day, and a clock that is set back over midnight
	// repeats a date.
	days := s.horizon(today)
	for n := -2; n <= days; n++ {
		date := today.AddDate(0, 0, n)
		for _, sp := range s.on(date) {
			from := s.calendar.instant(date.Add(time.Duration(sp.from) * time.Minute))
			to := s.calendar.instant(date.Add(time.Duration(sp.to) * time.Minute))
			if from.Before(s.begin) {
				from = s.begin
			}
			if !s.end.IsZero() && to.After(s.end) {
				to = s.end
			}
			switch {
			case !to.After(from): // the period lies in a gap that the zone skips, or outside of the limits
				continue
			case open.open && !from.After(open.end):
				open.end = to
				continue
			case open.open && t.Before(open.end):
				return open
			case open.open:
				closed = open.end
			}
			if t.Before(from) {
				return phase{start: closed, end: from}
			}
			open = phase{open: true, start: from, end: to}
		}
	}
	switch {
	case !open.open:
		return phase{start: closed}
	case !t.Before(open.end):
		return phase{start: open.end}
	// A phase that is open until the horizon counts as open without an end.
	case !open.end.Before(s.calendar.instant(today.AddDate(0, 0, days))):
		open.end = time.Time{}
	}
	return open
}

// horizon returns how many days ahead a change is searched: a week beyond the last date that is named, because hours
// repeat weekly.
func (s *schedule) horizon(today time.Time) int {
	days := 8
	reach := func(date string) {
		at, _ := time.Parse(dateLayout, date) // validated before
		days = max(days, min(int(at.Sub(today)/(24*time.Hour))+8, maxHorizon))
	}
	for date := range s.exceptions {
		reach(date)
	}
	for _, date := range []string{s.first, s.final} {
		if date != "" {
			reach(date)
		}
	}
	return days
}

// OpenAt reports whether an instant is within the opening hours. It does not consider the branch's switch or a pause.
func (b Branch) OpenAt(t time.Time) bool { return b.schedule == nil || b.schedule.at(t).open }

// HoursChange returns the next instant at which the branch opens or closes by its hours: its closing time while it is
// open, its next opening while it is closed. It is zero if there is none within about a year.
func (b Branch) HoursChange(t time.Time) time.Time {
	if b.schedule == nil {
		return time.Time{}
	}
	return b.schedule.at(t).end
}

// OpensAt returns the next opening of a branch that is closed by its hours at t. It is zero while it is open, and if it
// does not open within about a year.
func (b Branch) OpensAt(t time.Time) time.Time {
	if b.OpenAt(t) {
		return time.Time{}
	}
	return b.HoursChange(t)
}

// Closure is the reason why a branch takes no orders: its switch or its hours.
type Closure struct {
	OpensAt time.Time // zero: not known
}

// Closed returns the closure at an instant, or nil while the branch takes orders. After closing time the branch still
// takes orders for ClosingGrace. changes is the next instant at which the hours change the result; zero if there is
// none.
func (b Branch) Closed(now time.Time) (c *Closure, changes time.Time) {
	switch {
	case !b.Open, b.Retired():
		return &Closure{}, time.Time{} // until the staff switch it on
	case b.schedule == nil:
		return nil, time.Time{}
	}
	for _, p := range []phase{b.schedule.at(now.Add(-ClosingGrace)), b.schedule.at(now)} {
		switch {
		case p.open && p.end.IsZero():
			return nil, time.Time{}
		case p.open:
			return nil, p.end.Add(ClosingGrace)
		}
		changes = p.end
	}
	return &Closure{OpensAt: changes}, changes
}

// Retired reports whether the branch is no longer in use.
func (b Branch) Retired() bool { return !b.RetiredAt.IsZero() }

// CheckOpen returns ErrRetired, or ErrClosed with the next opening for a branch that is Closed.
func (b Branch) CheckOpen(now time.Time) error {
	if b.Retired() {
		return ErrRetired
	}
	c, _ := b.Closed(now)
	switch {
	case c == nil:
		return nil
	case c.OpensAt.IsZero():
		return ErrClosed.With("opensAt", nil)
	}
	return ErrClosed.With("opensAt", c.OpensAt)
}
