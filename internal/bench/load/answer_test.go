package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

const (
	chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	empty   = "Content-Length: 0\r\n\r\n"
)

func TestReader_answers(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want Answer
	}{
		"length":        {"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello", Answer{Status: 201, Bytes: 5}},
		"lower case":    {"HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhello", Answer{Status: 200, Bytes: 5}},
		"no reason":     {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", Answer{Status: 200}},
		"chunked":       {chunked + "5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", Answer{Status: 200, Bytes: 15}},
		"trailer":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\nX-Sum: 1\r\n\r\n", Answer{Status: 200}},
		"not modified":  {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", Answer{Status: 304}},
		"no content":    {"HTTP/1.1 204 No Content\r\n\r\n", Answer{Status: 204}},
		"close":         {"HTTP/1.1 503 No\r\nConnection: close\r\n" + empty, Answer{Status: 503, Close: true}},
		"interim first": {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n" + empty, Answer{Status: 200}},
	} {
		t.Run(name, func(t *testing.T) {
			// Twice the same, so that the first answer is seen to end where the second begins.
			r := newReader(iotest.OneByteReader(strings.NewReader(tc.text + tc.text)))
			for i := range 2 {
				if got, err := r.next(); err != nil || got != tc.want {
					t.Errorf("answer %d: %+v, %v, want %+v", i+1, got, err, tc.want)
				}
			}
			if _, err := r.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("after the last answer: %v", err)
			}
		})
	}
}

func TestReader_refuses(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"other protocol":    {"SSH-2.0-OpenSSH_9.2\r\n\r\n", errHead},
		"old protocol":      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", errHead},
		"bare line feed":    {"HTTP/1.1 200 OK\r\nX: y\nContent-Length: 0\r\n\r\n", errHead},
		"folded line":       {"HTTP/1.1 200 OK\r\nContent-Length:\r\n 0\r\n\r\n", errHead},
		"no number":         {"HTTP/1.1 2x1 Created\r\n\r\n", errHead},
		"endless head":      {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", bufferSize), errHead},
		"endless interim":   {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxInterim+1), errHead},
		"two lengths":       {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", errHead},
		"negative length":   {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", errHead},
		"huge length":       {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", errHead},
		"no length":         {"HTTP/1.1 200 OK\r\n\r\nhello", errLength},
		"unknown encoding":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", errLength},
		"chunk size":        {chunked + "zz\r\n", errChunk},
		"empty chunk size":  {chunked + "\r\n", errChunk},
		"huge chunk":        {chunked + "fffffffffffffffff\r\n", errChunk},
		"chunk runs over":   {chunked + "1\r\nhello\r\n", errChunk},
		"cut in the head":   {"HTTP/1.1 200 OK\r\nContent-Le", io.ErrUnexpectedEOF},
		"cut in the body":   {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", io.ErrUnexpectedEOF},
		"cut in the chunks": {chunked + "5\r\nhel", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := newReader(strings.NewReader(tc.text)).next(); !errors.Is(err, tc.want) {
				t.Errorf("%+v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

// pieces returns a text in reads of random lengths, like TCP.
type pieces struct {
	text  []byte
	sizes []int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := len(p.text)
	if len(p.sizes) > 0 {
		n, p.sizes = min(n, p.sizes[0]), p.sizes[1:]
	}
	n = copy(b, p.text[:n])
	p.text = p.text[n:]
	return n, nil
}

// Whatever net/http writes is read to its end, however the network cuts it.
func TestReader_readsWhatTheStandardLibraryWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var wire bytes.Buffer
		type answer struct {
			status int
			body   []byte
		}
		var want []answer
		for range rapid.IntRange(1, 5).Draw(t, "answers") {
			a := answer{
				rapid.SampledFrom([]int{200, 201, 409, 503}).Draw(t, "status"),
				rapid.SliceOfN(rapid.Byte(), 0, 40_000).Draw(t, "body"),
			}
			res := &http.Response{
				StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1,
				Header: http.Header{"X-Filler": {rapid.StringMatching("[a-z]{0,60}").Draw(t, "filler")}},
				Body:   io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)),
			}
			if rapid.Bool().Draw(t, "chunked") {
				res.ContentLength, res.TransferEncoding = -1, []string{"chunked"}
			}
			if err := res.Write(&wire); err != nil {
				t.Fatal(err)
			}
			want = append(want, a)
		}
		r := newReader(&pieces{wire.Bytes(), rapid.SliceOfN(rapid.IntRange(1, 20_000), 0, 50).Draw(t, "pieces")})
		for i, a := range want {
			if got, err := r.next(); err != nil || got.Status != a.status || got.Bytes != int64(len(a.body)) {
				t.Fatalf("answer %d: %+v, %v, want status %d and %d bytes", i+1, got, err, a.status, len(a.body))
			}
		}
	})
}

// FuzzReader looks for a panic, for an answer that depends on how it is cut, and for one of which net/http finds
// another end.
func FuzzReader(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 103 x\r\n\r\nHTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, errWhole := newReader(bytes.NewReader(text)).next()
		cut, errCut := newReader(iotest.OneByteReader(bytes.NewReader(text))).next()
		if whole != cut || fmt.Sprint(errWhole) != fmt.Sprint(errCut) {
			t.Fatalf("in one piece %+v, %v; byte by byte %+v, %v", whole, errWhole, cut, errCut)
		}
		if errWhole != nil {
			return
		}
		std, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), nil)
		if err != nil || std.StatusCode < 200 {
			return // it refuses more than we need to
		}
		defer std.Body.Close()
		if n, err := io.Copy(io.Discard, std.Body); err == nil && (n != whole.Bytes || std.StatusCode != whole.Status) {
			t.Fatalf("net/http reads status %d and %d bytes, we %+v", std.StatusCode, n, whole)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	one := "HTTP/1.1 201 Created\r\nCache-Control: no-store\r\nContent-Security-Policy: default-src 'none'\r\n" +
		"Content-Type: application/json\r\nDate: Thu, 26 Feb 2026 05:00:00 GMT\r\nX-Request-Id: 06b1\r\n" +
		"Content-Length: 320\r\n\r\n" +
		strings.Repeat("x", 320)
	src := strings.NewReader(one)
	r := newReader(src)
	b.ReportAllocs()
	for range b.N {
		src.Reset(one)
		if _, err := r.next(); err != nil {
			b.Fatal(err)
		}
	}
}
