package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

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
	// The usual case, a client that repeats the one tag it received, without parsing.
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
		"304": {Description: "The client has it already."},
	}
	register(o.api, op, o.policy, h)
}
