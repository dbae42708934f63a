package load

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Errors of responses. The connection cannot be used afterwards.
var (
	errHead   = errors.New("load: the head of an answer is malformed or too long")
	errLength = errors.New("load: an answer does not say how long it is")
	errChunk  = errors.New("load: a chunk of an answer is malformed")
)

// Limits of a response, so that a broken server cannot prolong a measurement.
const (
	bufferSize = 16 << 10 // also the maximum header and line length
	maxBody    = 64 << 20
	maxInterim = 8 // 1xx responses before the final one
)

// Answer is the relevant part of a response.
type Answer struct {
	Status int
	Bytes  int64 // length of the body
	Close  bool  // the server closes the connection
}

// reader reads consecutive responses from a connection (RFC 9112). It only determines where each ends and does not keep
// bodies.
type reader struct {
	src      io.Reader
	buf      []byte
	from, to int // unread part of buf
}

func newReader(src io.Reader) *reader { return &reader{src: src, buf: make([]byte, bufferSize)} }

// fill reads more data into the buffer.
func (r *reader) fill() error {
	if r.from > 0 {
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.from = 0
	}
	if r.to == len(r.buf) {
		return errHead
	}
	n, err := r.src.Read(r.buf[r.to:])
	r.to += n
	if n > 0 {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// until returns the data up to and including a mark. It is valid until the next call.
func (r *reader) until(mark string) ([]byte, error) {
	for {
		if i := bytes.Index(r.buf[r.from:r.to], []byte(mark)); i >= 0 {
			b := r.buf[r.from : r.from+i+len(mark)]
			r.from += len(b)
			return b, nil
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// skip drops n bytes.
func (r *reader) skip(n int64) error {
	for {
		have := min(int64(r.to-r.from), n)
		r.from += int(have)
		if n -= have; n == 0 {
			return nil
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// next reads one response to its end.
func (r *reader) next() (Answer, error) {
	for range maxInterim {
		head, err := r.until("\r\n\r\n")
		if err != nil {
			return Answer{}, err
		}
		h, err := parseHead(head)
		if err != nil {
			return Answer{}, err
		}
		if h.Status < 200 {
			continue
		}
		err = r.body(&h)
		return h.Answer, err
	}
	return Answer{}, errHead
}

func (r *reader) body(h *head) error {
	switch {
	case h.Status == http.StatusNoContent || h.Status == http.StatusNotModified:
		return nil
	case h.chunked:
		return r.chunks(&h.Answer)
	case h.length < 0:
		return errLength
	}
	h.Bytes = h.length
	return r.skip(h.length)
}

// chunks reads a chunked body (RFC 9112, section 7.1), its trailer included.
func (r *reader) chunks(a *Answer) error {
	for {
		line, err := r.until("\r\n")
		if err != nil {
			return err
		}
		size, ok := hex(line[:len(line)-2])
		if !ok || a.Bytes+size > maxBody {
			return errChunk
		}
		if size == 0 {
			break
		}
		a.Bytes += size
		if err := r.skip(size); err != nil {
			return err
		}
		if end, err := r.until("\r\n"); err != nil || len(end) != 2 {
			return errors.Join(errChunk, err)
		}
	}
	for {
		if line, err := r.until("\r\n"); err != nil || len(line) == 2 {
			return err
		}
	}
}

// hex reads a chunk's size; what follows a semicolon is an extension.
func hex(line []byte) (n int64, ok bool) {
	for i, c := range line {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 + int64(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 + int64(c|0x20-'a') + 10
		case (c == ';' || c == ' ' || c == '\t') && i > 0:
			return n, true
		default:
			return 0, false
		}
		if n > maxBody {
			return 0, false
		}
	}
	return n, len(line) > 0
}

// head contains what determines the end of a response.
type head struct {
	Answer
	length  int64 // -1 if unknown
	chunked bool
}

// parseHead parses a status line and the three relevant headers.
func parseHead(text []byte) (head, error) {
	h := head{length: -1}
	line, rest, _ := bytes.Cut(text, []byte("\r\n"))
	status, ok := int64(0), false
	if len(line) >= 12 && bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && bytes.IndexByte(line, '\n') < 0 {
		status, ok = decimal(line[9:12])
	}
	if !ok || status < 100 {
		return h, errHead
	}
	h.Status = int(status)
	for len(rest) > 2 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if err := h.header(line); err != nil {
			return h, err
		}
	}
	return h, nil
}

// header checks the first letter first, because most headers are irrelevant. It refuses folded lines and line ends
// other than CRLF, which are ambiguous.
func (h *head) header(line []byte) error {
	if len(line) == 0 || line[0] == ' ' || line[0] == '\t' || bytes.IndexByte(line, '\n') >= 0 {
		return errHead
	}
	if line[0]|0x20 != 'c' && line[0]|0x20 != 't' {
		return nil
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		n, ok := decimal(value)
		if !ok || n > maxBody || h.length >= 0 && h.length != n {
			return errHead
		}
		h.length = n
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		h.chunked = bytes.EqualFold(value, []byte("chunked"))
	case bytes.EqualFold(name, []byte("Connection")):
		h.Close = h.Close || bytes.EqualFold(value, []byte("close"))
	}
	return nil
}

func decimal(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || n > maxBody {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(b) > 0
}
