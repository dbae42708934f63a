package httpapi

import (
	"net/http"
	"testing"
)

func TestFresh(t *testing.T) {
	for _, c := range []struct {
		header, etag string
		want         bool
	}{
		{`"a"`, `"a"`, true}, {`W/"a"`, `"a"`, true}, {`"a"`, `W/"a"`, true}, {`"b", "a"`, `"a"`, true}, {`*`, `"a"`, true},
		{`"b","c" , W/"a"`, `"a"`, true}, {``, `"a"`, false}, {`"b"`, `"a"`, false}, {`a`, `"a"`, false}, {``, ``, false},
		{`"a`, `"a"`, false}, {`,`, `"a"`, false},
	} {
		if got := Fresh(c.header, c.etag); got != c.want {
			t.Errorf("Fresh(%q, %q) = %t", c.header, c.etag, got)
		}
	}
}

func TestETag_FollowsContent(t *testing.T) {
	a, b := ETag([]byte("a")), ETag([]byte("b"))
	if a == b || a != ETag([]byte("a")) || a[0] != '"' || a[len(a)-1] != '"' {
		t.Errorf("tags %s and %s", a, b)
	}
}

func TestBytes_ConditionalRequests(t *testing.T) {
	h := newHarness(t, nil)
	a := h.send("GET", "/menu", "")
	if a.StatusCode != 200 || a.body != string(menuJSON) || a.Header.Get("ETag") != menuETag ||
		a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %v, %d bytes", a.StatusCode, a.Header, len(a.body))
	}
	a = h.send("GET", "/menu", "", "If-None-Match", "W/"+menuETag)
	if a.StatusCode != http.StatusNotModified || a.body != "" || a.Header.Get("ETag") != menuETag {
		t.Errorf("conditional request: status %d, headers %v, body %q, want 304 with the ETag", a.StatusCode, a.Header, a.body)
	}
	if a = h.send("GET", "/menu", "", "If-None-Match", `"old"`); a.StatusCode != 200 {
		t.Errorf("request with an old ETag: status %d, want 200", a.StatusCode)
	}
	if b := NewBytes("*", "", menuJSON); b.Status != 200 {
		t.Error("a body without a tag counts as known")
	}
}
