package sqldb

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

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

// scanner is a destination of Rows.Scan that converts a column's value. Both drivers call it: pgx by way of
// database/sql's interface.
type scanner func(src any) error

// Scan implements sql.Scanner.
func (s scanner) Scan(src any) error { return s(src) }

// Time returns a scan destination for a column of Unix milliseconds. 0 and NULL are the zero time.
func Time(t *time.Time) sql.Scanner {
	return scanner(func(src any) error {
		ms, err := valueOf[int64](src)
		*t = Instant(ms)
		return err
	})
}

// Bool returns a scan destination for a column of 1 and 0.
func Bool(b *bool) sql.Scanner {
	return scanner(func(src any) error {
		n, err := valueOf[int64](src)
		*b = n == 1
		return err
	})
}

// NullText returns a scan destination for a column of text. NULL is the empty text.
func NullText[T ~string](v *T) sql.Scanner {
	return scanner(func(src any) error {
		text, err := valueOf[string](src)
		*v = T(text)
		return err
	})
}

// JSON returns a scan destination that decodes a column of JSON.
func JSON(v any) sql.Scanner {
	return scanner(func(src any) error {
		text, err := valueOf[string](src)
		return errors.Join(err, json.Unmarshal([]byte(text), v))
	})
}

// valueOf returns a driver's value as T, and the zero value for NULL.
func valueOf[T int64 | string](src any) (v T, err error) {
	if src == nil {
		return v, nil
	}
	v, ok := src.(T)
	if !ok {
		return v, fmt.Errorf("a column has %T and not %T", src, v)
	}
	return v, nil
}
