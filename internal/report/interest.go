package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"comanda/internal/catalog"
)

// DishInterest counts how often a dish was looked at, added to a cart, and ordered. Views and additions are reported by
// phones, so they are lower bounds; orders are paid orders that contain the dish.
type DishInterest struct {
	ID                    int64
	Names                 catalog.Texts // empty for a deleted dish
	Viewed, Added, Orders int64
}

// CartDay counts the visits of a business date in which a dish was added to a cart.
type CartDay struct {
	Date      string
	Begun     int64
	Ordered   int64 // with at least one order, paid or not
	Abandoned int64 // closed without an order
	Open      int64 // neither

	Members       int64 // carts of members, unchanged for AbandonedAfter
	MembersAmount int64 // of their dishes, at the prices when they were added
}

// AbandonedAfter is how long a member's cart is unchanged until it counts as abandoned.
const AbandonedAfter = 24 * time.Hour

// MemberCart is a member's cart with dishes, by the date of its last change.
type MemberCart struct {
	Date          string
	Units, Amount int64
}

// AbandonedCarts returns the carts of the span by date, of guests and of members.
func (r *Service) AbandonedCarts(ctx context.Context, s Span) ([]CartDay, error) {
	days, err := r.Carts(ctx, s)
	if err != nil {
		return nil, err
	}
	carts, err := r.MemberCarts(ctx, s, AbandonedAfter)
	return withMemberCarts(days, carts), err
}

// withMemberCarts adds members' carts to the days, which stay in the order of their dates.
func withMemberCarts(days []CartDay, carts []MemberCart) []CartDay {
	for _, c := range carts {
		i, found := slices.BinarySearchFunc(days, c.Date, func(d CartDay, date string) int { return cmp.Compare(d.Date, date) })
		if !found {
			days = slices.Insert(days, i, CartDay{Date: c.Date})
		}
		days[i].Members++
		days[i].MembersAmount += c.Amount
	}
	return days
}

// TotalCarts returns the sum of days, without a date.
func TotalCarts(days []CartDay) (sum CartDay) {
	for _, d := range days {
		sum.Begun += d.Begun
		sum.Ordered += d.Ordered
		sum.Abandoned += d.Abandoned
		sum.Open += d.Open
		sum.Members += d.Members
		sum.MembersAmount += d.MembersAmount
	}
	return sum
}

// Searched counts how often guests searched for a text, folded as by text.Fold. Phones report searches, so counts are
// lower bounds. Missed are those that found no dish on a published menu.
type Searched struct {
	Text             string
	Searches, Missed int64
}

// MaxSearched is the number of texts of a report, those with the most searches.
const MaxSearched = 10_000

// MissedSearches returns the texts with searches that found nothing, most of these first.
func MissedSearches(all []Searched) []Searched {
	missed := slices.DeleteFunc(slices.Clone(all), func(s Searched) bool { return s.Missed == 0 })
	slices.SortStableFunc(missed, func(a, b Searched) int { return cmp.Compare(b.Missed, a.Missed) })
	return missed
}

// MemberDay has the numbers of members that were active on a date, and in the seven and the thirty dates that end with
// it. Returning are those of the date who were also active on one of the thirty dates before it.
type MemberDay struct {
	Date                              string
	Daily, Weekly, Monthly, Returning int64
}

// MemberFigures returns the figures of all members; a member belongs to no branch. Package app implements
// it with package analytics.
type MemberFigures interface {
	// MemberDays returns the figures of each date up to the current one, both ends included.
	MemberDays(ctx context.Context, from, to string) ([]MemberDay, error)
}
