package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"comanda/internal/fault"
)

// ByID is the input of an operation on the object of a number.
type ByID struct {
	ID int64 `path:"id"`
}

// BodyByID is ByID with a body.
type BodyByID[B any] struct {
	ID   int64 `path:"id"`
	Body B
}

// ByText is the input of an operation on the object of a text id.
type ByText struct {
	ID string `path:"id" maxLength:"64"`
}

// FormatID formats an id for a response. Ids are strings in JSON, because JavaScript's numbers are not exact beyond
// 2^53.
func FormatID(id int64) string { return strconv.FormatInt(id, 10) }

// ParseID parses an id of a request.
func ParseID(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.Invalid, "invalid", "An id is a positive whole number.")
	}
	return id, nil
}

// ParseOptionalID is ParseID with 0 for an id that was left out.
func ParseOptionalID(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	return ParseID(s)
}

// OrNull returns a pointer to v, or nil for the zero value, which JSON shows as null.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// TimeOrNull is OrNull for times, whose zero value has several representations.
func TimeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// IDOrNull is OrNull for an id as a string.
func IDOrNull(id int64) *string {
	if id == 0 {
		return nil
	}
	return new(FormatID(id))
}

// Paging has the query parameters of a list. Embed it in the list's input.
type Paging struct {
	Page int `query:"page" default:"1" minimum:"1" maximum:"1000000"`
	Size int `query:"size" default:"20" minimum:"1" maximum:"100"`
}

// LongPaging is Paging for lists that are usually shown whole.
type LongPaging struct {
	Page int `query:"page" default:"1" minimum:"1" maximum:"1000000"`
	Size int `query:"size" default:"100" minimum:"1" maximum:"100"`
}

// ShortPaging is Paging for lists whose far pages are expensive.
type ShortPaging struct {
	Page int `query:"page" minimum:"1" maximum:"100000" default:"1"`
	Size int `query:"size" minimum:"1" maximum:"100" default:"20"`
}

// Offset returns the number of items before the page.
func (p Paging) Offset() int { return (p.Page - 1) * p.Size }

// Offset returns the number of items before the page.
func (p LongPaging) Offset() int { return Paging(p).Offset() }

// Offset returns the number of items before the page.
func (p ShortPaging) Offset() int { return Paging(p).Offset() }

// List is a whole list.
type List[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// ListOf returns a list of total items, those of one page or all of them, each as view shows it.
func ListOf[V, T any](items []V, total int, view func(V) T) List[T] {
	return List[T]{Views(items, view), total}
}

// Listed is one page of a list.
type Listed[T any] struct {
	Items []T   `json:"items"`
	Page  int   `json:"page"`
	Size  int   `json:"size"`
	Total int64 `json:"total"`
}

// ListedOf returns a page of a list that has total items, each as view shows it.
func ListedOf[V, T any](p Paging, page []V, total int64, view func(V) T) Listed[T] {
	return Listed[T]{Views(page, view), p.Page, p.Size, total}
}

// Views returns each item as view shows it. The result is never nil, which JSON would show as null.
func Views[V, T any](items []V, view func(V) T) []T {
	all := make([]T, len(items))
	for i, v := range items {
		all[i] = view(v)
	}
	return all
}

// PageOf returns the requested page of a whole list.
func PageOf[T any](p Paging, all []T) []T {
	all = all[min(p.Offset(), len(all)):]
	return all[:min(p.Size, len(all))]
}

// Creation is the output of an operation that responds with 201 for a new object and with 200 for a repeated request, so
// that clients can distinguish them.
type Creation[T any] struct {
	Status int
	Body   T
}

// CreationOf returns the output for an object that is new, or was created by an earlier request.
func CreationOf[T any](isNew bool, body T) *Creation[T] {
	if isNew {
		return &Creation[T]{http.StatusCreated, body}
	}
	return &Creation[T]{http.StatusOK, body}
}
