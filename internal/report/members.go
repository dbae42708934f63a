package report

import "context"

// MemberDay is how many members were active on a date, and in the seven and the thirty dates that end with it. Returning
// are those of the date who were also active on one of the thirty dates before it.
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
