package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/fault"
	"comanda/internal/seq"
)

// ByID is the input of an operation on one object, identified by a number.
type ByID struct {
	ID int64 `path:"id"`
}

// BodyByID is ByID with a body.
type BodyByID[B any] struct {
	ID   int64 `path:"id"`
	Body B
}

// ByText is the input of an operation on one object, identified by a text.
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

// IDOf returns the id of a field whose schema has the pattern of ids, which lets nothing else through. It returns 0 for
// an id that was left out.
func IDOf(s string) int64 {
	id, _ := strconv.ParseInt(s, 10, 64)
	return id
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

// List is a complete list.
type List[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// ListOf returns a list of total items, complete or one page of it; view converts each item.
func ListOf[V, T any](items []V, total int, view func(V) T) List[T] {
	return List[T]{seq.Map(items, view), total}
}

// Listed is one page of a list.
type Listed[T any] struct {
	Items []T   `json:"items"`
	Page  int   `json:"page"`
	Size  int   `json:"size"`
	Total int64 `json:"total"`
}

// ListedOf returns a page of a list that has total items; view converts each item.
func ListedOf[V, T any](p Paging, page []V, total int64, view func(V) T) Listed[T] {
	return Listed[T]{seq.Map(page, view), p.Page, p.Size, total}
}

// PageOf returns the requested page of a complete list.
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

// Bytes is the response of an operation whose JSON is already encoded, such as a cached menu. Create it with NewBytes.
type Bytes struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Disposition  string `header:"Content-Disposition"`
	Body         []byte
}

// NewDownload returns a response that browsers save as a file. The name must consist of letters, digits, dots and
// dashes.
func NewDownload(contentType, name string, body []byte) *Bytes {
	return &Bytes{
		Status: http.StatusOK, ContentType: contentType, CacheControl: "no-store",
		Disposition: `attachment; filename="` + name + `"`, Body: body,
	}
}

// NewBytes returns a response with body, or 304 without a body if ifNoneMatch matches etag. An empty etag disables
// conditional requests. The caller must not change body afterwards.
func NewBytes(ifNoneMatch, etag string, body []byte) *Bytes {
	b := &Bytes{Status: http.StatusOK, ETag: etag, CacheControl: "no-cache"} // cached, but revalidated each time
	if etag != "" && Fresh(ifNoneMatch, etag) {
		b.Status = http.StatusNotModified
		return b
	}
	b.ContentType, b.Body = "application/json", body
	return b
}

// ETag returns a strong entity tag of content. Compute it once per content.
func ETag(content []byte) string {
	// 128 bits suffice: a tag only has to change with the content, and every response carries it.
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// Fresh reports whether an If-None-Match header matches an entity tag, by the weak comparison of RFC 9110, section
// 13.1.2.
func Fresh(ifNoneMatch, etag string) bool {
	// Usually a client repeats the one tag that it received, which needs no parsing.
	if ifNoneMatch == etag {
		return etag != ""
	}
	want := strings.TrimPrefix(etag, "W/")
	for tag := range strings.SplitSeq(ifNoneMatch, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || tag != "" && strings.TrimPrefix(tag, "W/") == want {
			return true
		}
	}
	return false
}

// RegisterBytes adds an operation that responds with Bytes. T is the type of their JSON, for the OpenAPI document;
// an option adds other content types.
func RegisterBytes[I, T any](
	o Operations, id, pattern, summary string, h func(ctx context.Context, in *I) (*Bytes, error), options ...Option,
) {
	op := o.operation(id, pattern, summary, options)
	schema := o.api.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, id+"Response")
	content := map[string]*huma.MediaType{"application/json": {Schema: schema}}
	if also := op.Responses["200"]; also != nil {
		maps.Copy(content, also.Content)
	}
	op.Responses = map[string]*huma.Response{
		"200": {Description: http.StatusText(http.StatusOK), Content: content},
		"304": {Description: "The client already has this version."},
	}
	register(o.api, op, o.policy, h)
}
