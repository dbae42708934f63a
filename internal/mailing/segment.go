package mailing

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// MaxInactiveDays is the longest time without activity that a segment can ask for: dates of activity are kept for so long.
const MaxInactiveDays = 400

// MaxExport is the number of members that one file can have. It has some 6 MB, and takes the database a few seconds.
const MaxExport = 50_000

// exportPage is the number of members that are read at a time.
const exportPage = 1000

// MemberSegment selects members. Zero values select all. Staff and disabled accounts are in no segment.
type MemberSegment struct {
	Province     string `json:"province,omitempty"` // compared as searches do: without regard to case and accents
	City         string `json:"city,omitempty"`
	Registered   *bool  `json:"registered,omitempty"`   // whether the e-mail address is verified
	InactiveDays int    `json:"inactiveDays,omitempty"` // neither a login nor another activity in so many days
}

// InactiveSince returns the instant since which members of the segment were not active; zero for no such condition.
func (s MemberSegment) InactiveSince(now time.Time) time.Time {
	if s.InactiveDays == 0 {
		return time.Time{}
	}
	return now.Add(-time.Duration(s.InactiveDays) * 24 * time.Hour)
}

// SegmentCounts are the sizes of a segment.
type SegmentCounts struct {
	Members    int64 // all members in it
	News       int64 // of these, with consent to news and a verified address
	Remindable int64 // of these, with a registration that was not finished, and not reminded yet
}

// SegmentMember is a member as an export shows it. It has no password, token or order.
type SegmentMember struct {
	ID                                                    int64
	Email, Phone, FirstName, Surname, Province, City, Tag string // Tag is the language, empty if unknown
	Registered, News                                      bool
	CreatedAt                                             time.Time
	LastLogin                                             time.Time // zero for never
}

// SegmentStore reads segments, normally mailingsql.
type SegmentStore interface {
	Count(ctx context.Context, s MemberSegment, now time.Time) (SegmentCounts, error)
	// Members returns the members of a segment after an id, by id, at most limit.
	Members(ctx context.Context, s MemberSegment, now time.Time, after int64, limit int) ([]SegmentMember, error)
	// RecordExport writes the audit entry of an export.
	RecordExport(ctx context.Context, by authz.Actor, s MemberSegment, members int64, now time.Time) error
}

// ErrExportTooLarge refuses to export a segment with more than MaxExport members.
var ErrExportTooLarge = fault.Newf(fault.Invalid, "segment_too_large",
	"A file has at most %d members. Please choose a smaller group.", MaxExport)

// Segments counts and exports segments.
type Segments struct {
	Store SegmentStore
	Now   func() time.Time
}

// Count returns the sizes of a segment.
func (s *Segments) Count(ctx context.Context, of MemberSegment) (SegmentCounts, error) {
	return s.Store.Count(ctx, of, s.Now())
}

// Export records the export and returns a function that calls add with all members of the segment, page by page.
func (s *Segments) Export(
	ctx context.Context, by authz.Actor, of MemberSegment,
) (each func(ctx context.Context, add func(SegmentMember) error) error, err error) {
	now := s.Now()
	n, err := s.Store.Count(ctx, of, now)
	if err != nil {
		return nil, err
	}
	if n.Members > MaxExport {
		return nil, ErrExportTooLarge
	}
	// Recorded before the first row leaves: an export that breaks off has revealed members too.
	if err := s.Store.RecordExport(ctx, by, of, n.Members, now); err != nil {
		return nil, err
	}
	return func(ctx context.Context, add func(SegmentMember) error) error {
		for after := int64(0); ; {
			page, err := s.Store.Members(ctx, of, now, after, exportPage)
			if err != nil {
				return err
			}
			for _, m := range page {
				if err := add(m); err != nil {
					return err
				}
			}
			if len(page) < exportPage {
				return nil
			}
			after = page[len(page)-1].ID
		}
	}, nil
}
