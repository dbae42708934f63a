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
// other content types must already be in op.Responses.
func RegisterBytes[I, T any](a *API, op huma.Operation, p Policy, h func(ctx context.Context, in *I) (*Bytes, error)) {
	status := op.DefaultStatus
	if status == 0 {
		status = http.StatusOK
	}
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, op.OperationID+"Response")
	content := map[string]*huma.MediaType{"application/json": {Schema: schema}}
	if also := op.Responses[strconv.Itoa(status)]; also != nil {
		maps.Copy(content, also.Content)
	}
	op.Responses = map[string]*huma.Response{
		strconv.Itoa(status):                 {Description: http.StatusText(status), Content: content},
		strconv.Itoa(http.StatusNotModified): {Description: "The client has it already."},
	}
	Register(a, op, p, h)
}
