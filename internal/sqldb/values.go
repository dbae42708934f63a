package sqldb

import "time"

// IDs returns a row set of one column, id. Its statements declare the column as @rows($1: id int) or as text.
func IDs[T int64 | string](ids []T) *RowSet {
	r := NewRowSet(len(ids))
	switch ids := any(ids).(type) {
	case []int64:
		r.Int("id", func(i int) int64 { return ids[i] })
	case []string:
		r.Text("id", func(i int) string { return ids[i] })
	}
	return r
}

// Flag returns 1 for true and 0 for false, because SQLite has no type for them.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Instant returns the time of Unix milliseconds, in UTC. 0 is the zero time: columns use it for "not yet" and "never".
func Instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// NullInstant returns the time of Unix milliseconds, in UTC. NULL is the zero time.
func NullInstant(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}

// NullMillis returns a time in Unix milliseconds for a column that has NULL for the zero time.
func NullMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}
