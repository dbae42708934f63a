package visit

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
)

// MaxTablesAtOnce is the largest number of tables that one request creates.
const MaxTablesAtOnce = 200

// ParseLabels returns the labels of a list such as "A1-A8,T01-T12,Bar". A range counts up a number at the end of a
// label; leading zeros are kept, and the second prefix may be omitted (A1-8).
func ParseLabels(list string) ([]string, error) {
	var labels []string
	for part := range strings.SplitSeq(list, ",") {
		expanded, err := expandLabel(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		// The limit is checked at each part, so that many long ranges do not fill the memory.
		if labels = append(labels, expanded...); len(labels) > MaxTablesAtOnce {
			return nil, tooManyTables()
		}
	}
	return labels, nil
}

func tooManyTables() error {
	return fault.Newf(fault.Invalid, "too_many_tables", "Create at most %d tables at once.", MaxTablesAtOnce).
		With("field", "labels")
}

// expandLabel returns the labels of a range, or the text itself if it is not a range. Labels may contain hyphens:
// Bar-1 is not a range.
func expandLabel(part string) ([]string, error) {
	left, right, hyphen := strings.Cut(part, "-")
	prefix, first := splitNumber(strings.TrimSpace(left))
	end, last := splitNumber(strings.TrimSpace(right))
	if !hyphen || first == "" || last == "" {
		label, err := normalLabel(part)
		return []string{label}, err
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	switch {
	case end != "" && end != prefix, err1 != nil, err2 != nil, to < from:
		return nil, fault.Newf(fault.Invalid, "invalid", "%q is not a range such as A1-A8.", part).With("field", "labels")
	case to-from >= MaxTablesAtOnce:
		return nil, tooManyTables()
	}
	labels := make([]string, 0, to-from+1)
	for n := from; n <= to; n++ {
		digits := strconv.Itoa(n)
		if strings.HasPrefix(first, "0") && len(digits) < len(first) {
			digits = strings.Repeat("0", len(first)-len(digits)) + digits
		}
		label, err := normalLabel(prefix + digits)
		if err != nil {
			return nil, err
		}
		labels = append(labels, label)
	}
	return labels, nil
}

// splitNumber splits a label before the digits at its end.
func splitNumber(label string) (prefix, digits string) {
	prefix = strings.TrimRight(label, "0123456789")
	return prefix, label[len(prefix):]
}

// LabelsTaken returns ErrLabelTaken for several labels of a request. It contains the number of requested labels: after a
// lost answer, a client finds that all of them exist.
func LabelsTaken(labels []string, requested int) error {
	const detail = "These labels are listed twice or in use: %s."
	return fault.Newf(fault.Conflict, ErrLabelTaken.Code, detail, strings.Join(labels, ", ")).
		With("labels", labels).With("requested", requested)
}

// AddTables creates tables with their own QR tokens, or none. Their branch, seats and section are those of like. It
// fails with ErrLabelTaken, which names all labels that are listed twice or in use.
func (f *Floor) AddTables(ctx context.Context, by authz.Actor, labels []string, like Table) ([]Table, error) {
	if !by.Sees(like.BranchID) {
		return nil, catalog.ErrBranch
	}
	if _, err := f.Guests.branches.Branch(ctx, like.BranchID); err != nil {
		return nil, err
	}
	if len(labels) == 0 || len(labels) > MaxTablesAtOnce {
		return nil, tooManyTables()
	}
	tables := make([]Table, len(labels))
	var twice []string
	for i, label := range labels {
		t, err := TableEdit{Label: &label, Section: &like.Section}.Apply(like)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(tables[:i], func(o Table) bool { return o.Label == t.Label }) {
			twice = append(twice, t.Label)
		}
		t.QR, t.Active = NewQRToken(), true
		tables[i] = t
	}
	all, err := f.Store.AddTables(ctx, by, tables, twice, f.Now())
	if err == nil {
		f.notify(like.BranchID)
	}
	return all, err
}
