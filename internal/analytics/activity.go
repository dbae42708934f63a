package analytics

import (
	"context"
	"time"
)

// MaxMember is the largest account id that a date can hold: its bitmap then has 1 MiB. Ids are assigned one by one, so a
// restaurant with 100,000 accounts needs 12.5 kB for a date. Dates with larger ids are counted in SQL.
const MaxMember = 1<<23 - 1

// Fitting returns the members that a date can hold, and whether these are all.
func Fitting(users []int64) (members []int64, all bool) {
	for _, id := range users {
		if id > 0 && id <= MaxMember {
			members = append(members, id)
		}
	}
	return members, len(members) == len(users)
}

// Dates of the figures. A member returns on a date if an earlier one of the FigureDays dates has the member, too.
const (
	WeekDays   = 7
	MonthDays  = 30
	FigureDays = MonthDays + 1
)

// ActiveMembers has the numbers of members that were active on a date, and in the seven and the thirty dates that end
// with it. Returning are those of the date who were also active on one of the thirty dates before it.
type ActiveMembers struct{ Daily, Weekly, Monthly, Returning int64 }

// ActiveDate contains the figures of one date.
type ActiveDate struct {
	Date string
	ActiveMembers
}

// ActiveDay is a member who was active on a date.
type ActiveDay struct {
	Date string
	User int64
}

// LoginDays stores which members were active on which date. It is a copy of what SQL has. A date is complete once it was
// restored; until then it lacks members.
type LoginDays interface {
	// MarkActive adds members to a date, whether it is complete or not.
	MarkActive(ctx context.Context, date string, users []int64) error
	// RestoreDay adds the members that SQL has of a date and makes it complete, unless an id is above MaxMember. It
	// removes none, because a process may have marked one since SQL was read.
	RestoreDay(ctx context.Context, date string, users []int64) error
	// CountActive returns the figures of the first date. The dates are FigureDays in a row, the newest first. If some of
	// them are not complete, it returns these instead.
	CountActive(ctx context.Context, dates []string) (m ActiveMembers, incomplete []string, err error)
}

// ActivityStore is the part of SQL that Activity needs; analyticssql implements it.
type ActivityStore interface {
	// Branches returns the ids of all branches.
	Branches(ctx context.Context) ([]int64, error)
	// AddActive stores members of dates. Those that are there already are ignored.
	AddActive(ctx context.Context, all []ActiveDay) error
	// ActiveOn returns the members of a date.
	ActiveOn(ctx context.Context, date string) ([]int64, error)
	// CountActive returns the figures of the first date, see LoginDays.
	CountActive(ctx context.Context, dates []string) (ActiveMembers, error)
}

// ActivityCache is everything that is stored outside of SQL; analyticsredis and analyticsmemory implement it.
type ActivityCache interface {
	LoginDays
	Presence
}

// Members returns the figures of each date, both ends included, up to the current one.
func (a *Activity) Members(ctx context.Context, from, to string) ([]ActiveDate, error) {
	today, err := a.Date(ctx, a.Now())
	if err != nil {
		return nil, err
	}
	first, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return nil, err
	}
	var all []ActiveDate
	for day := first; ; day = day.AddDate(0, 0, 1) {
		date := day.Format(time.DateOnly)
		if date > to || date > today {
			return all, nil
		}
		m, err := a.count(ctx, datesUntil(day))
		if err != nil {
			return nil, err
		}
		all = append(all, ActiveDate{date, m})
	}
}

// datesUntil returns the dates that the figures of a day need, the newest first.
func datesUntil(day time.Time) []string {
	dates := make([]string, FigureDays)
	for i := range dates {
		dates[i] = day.AddDate(0, 0, -i).Format(time.DateOnly)
	}
	return dates
}

// count returns the figures of the first date. It restores dates that are not complete, and uses SQL if that does not
// help: Redis is unreachable, or there are ids above MaxMember.
func (a *Activity) count(ctx context.Context, dates []string) (ActiveMembers, error) {
	m, incomplete, err := a.Cache.CountActive(ctx, dates)
	if err == nil && len(incomplete) > 0 {
		if err = a.restore(ctx, incomplete...); err == nil {
			m, incomplete, err = a.Cache.CountActive(ctx, dates)
		}
	}
	if err == nil && len(incomplete) == 0 {
		return m, nil
	}
	return a.Store.CountActive(ctx, dates)
}

// Restore completes the current and the previous date. It finds members that a process which was killed has stored in
// SQL and not marked.
func (a *Activity) Restore(ctx context.Context) error {
	now := a.Now()
	for _, at := range []time.Time{now.AddDate(0, 0, -1), now} {
		date, err := a.Date(ctx, at)
		if err == nil {
			err = a.restore(ctx, date)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Activity) restore(ctx context.Context, dates ...string) error {
	for _, date := range dates {
		users, err := a.Store.ActiveOn(ctx, date)
		if err == nil {
			err = a.Cache.RestoreDay(ctx, date, users)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
