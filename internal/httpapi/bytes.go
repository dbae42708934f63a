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

// Bytes is the answer of an operation whose JSON has been made before, such as a menu from a cache. Make it with
// NewBytes.
type Bytes struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Disposition  string `header:"Content-Disposition"`
	Body         []byte
}

// NewDownload answers with a file that browsers save under a name, which must be of letters, digits, dots and dashes.
func NewDownload(contentType, name string, body []byte) *Bytes {
	return &Bytes{
		Status: http.StatusOK, ContentType: contentType, CacheControl: "no-store",
		Disposition: `attachment; filename="` + name + `"`, Body: body,
	}
}

// NewBytes answers with body, or with 304 and nothing when ifNoneMatch says that the client has it already. An empty
// etag means that the body cannot be asked for conditionally. The body is sent as it is and must not change any more.
func NewBytes(ifNoneMatch, etag string, body []byte) *Bytes {
	b := &Bytes{Status: http.StatusOK, ETag: etag, CacheControl: "no-cache"} // kept, but asked about each time
	if etag != "" && Fresh(ifNoneMatch, etag) {
		b.Status = http.StatusNotModified
		return b
	}
	b.ContentType, b.Body = "application/json", body
	return b
}

// ETag makes a strong validator from content. Make it once, beside the bytes.
func ETag(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// Fresh tells whether an If-None-Match header names an entity tag, by the weak comparison of RFC 9110, section 13.1.2.
func Fresh(ifNoneMatch, etag string) bool {
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

// RegisterBytes adds an operation that answers with Bytes; T is what those bytes hold as JSON, for the OpenAPI document.
// What they may hold otherwise stands in the operation's responses already.
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
