package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

// The order of the benchmarks and of several tests: three lines in, ten fields out.
type orderLine struct {
	ItemID string `json:"itemId" text:"exact" minLength:"1" maxLength:"20"`
	Qty    int    `json:"qty" minimum:"1" maximum:"20"`
	Notes  string `json:"notes,omitempty" text:"lines" maxLength:"200"`
}

type orderIn struct {
	Items         []orderLine `json:"items" minItems:"1" maxItems:"50"`
	PaymentMethod string      `json:"paymentMethod" enum:"COUNTER,SANDBOX"`
	ClientTxnID   string      `json:"clientTxnId" text:"exact" minLength:"1" maxLength:"64"`
	VisitID       string      `json:"visitId" text:"exact" minLength:"26" maxLength:"26"`
	ExpectedTotal int64       `json:"expectedTotal,omitempty" minimum:"0"`
}

type paymentOut struct {
	Method      string  `json:"method"`
	RedirectURL *string `json:"redirectUrl"`
}

type orderOut struct {
	ID            string     `json:"id"`
	Number        string     `json:"number"`
	TotalPrice    int64      `json:"totalPrice"`
	Currency      string     `json:"currency"`
	Status        string     `json:"status"`
	PaymentStatus string     `json:"paymentStatus"`
	BizDate       string     `json:"bizDate"`
	PayBy         time.Time  `json:"payBy"`
	Payment       paymentOut `json:"payment"`
}

type createIn struct {
	GuestHeader
	Body orderIn
}

type createOut struct{ Body orderOut }

const orderJSON = `{"items":[{"itemId":"11","qty":2,"notes":"no onion"},{"itemId":"12","qty":1},` +
	`{"itemId":"13","qty":1}],"paymentMethod":"COUNTER","clientTxnId":"c-7f3a",` +
	`"visitId":"06bu4qk2l8v7h4c1m2n3o4p5q6","expectedTotal":130000}`

var payBy = time.Date(2026, 2, 26, 5, 15, 0, 0, time.UTC)

func place(in orderIn) orderOut {
	var total int64
	for _, l := range in.Items {
		total += int64(l.Qty) * 65_000
	}
	return orderOut{
		ID: "06bu4qk2l8v7h4c1m2n3o4p5q6", Number: "A-042", TotalPrice: total, Currency: "VND", Status: "PLACED",
		PaymentStatus: "UNPAID", BizDate: "2026-02-26", PayBy: payBy, Payment: paymentOut{Method: in.PaymentMethod},
	}
}

func registerOrder(a *API) {
	op := huma.Operation{Method: http.MethodPost, Path: "/cis/order/create", DefaultStatus: http.StatusCreated}
	register(a, op, Guest, func(_ context.Context, in *createIn) (*createOut, error) {
		return &createOut{place(in.Body)}, nil
	})
}

func bareOrder(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in orderIn
	if err != nil || json.Unmarshal(body, &in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(place(in))
}

// The menu of the benchmarks: about 10 KB, rendered in advance.
var (
	menuJSON = bytes.Repeat([]byte(`{"itemId":"11","name":"Phở bò","price":65000},`), 210)
	menuETag = ETag(menuJSON)
)

type menuIn struct {
	IfNoneMatch string `header:"If-None-Match"`
}

func registerMenu(a *API) {
	RegisterBytes[menuIn, []orderOut](a.Operations("t", Public), "menu", "GET /menu", "Menu",
		func(_ context.Context, in *menuIn) (*Bytes, error) {
			return NewBytes(in.IfNoneMatch, menuETag, menuJSON), nil
		})
}

func bareMenu(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Etag", menuETag)
	if r.Header.Get("If-None-Match") == menuETag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	_, _ = w.Write(menuJSON)
}

// listen serves a bare handler with the limits of our server.
func listen(b *testing.B, h http.Handler) string {
	b.Helper()
	l := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(b)
	c := Default()
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: c.ReadHeaderTimeout, ReadTimeout: c.ReadTimeout, WriteTimeout: c.WriteTimeout,
		IdleTimeout: c.IdleTimeout,
	}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// listenFull starts our server as in production, with metrics and a formatted, buffered access log.
func listenFull(b *testing.B) string {
	b.Helper()
	out := telemetry.NewBuffer(io.Discard)
	log := testenv.Must(telemetry.NewLogger(out, telemetry.LogConfig{}))(b)
	c := Default()
	c.Listen = "127.0.0.1:0"
	s := testenv.Must(New(c, log, telemetry.NewRegistry(telemetry.ReadBuild())))(b)
	registerOrder(s.API())
	registerMenu(s.API())
	testenv.NoError(b, s.Start(context.Background()))
	b.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s.Addr().String()
}

// load sends one request over kept connections, sixteen for each processor, and reads the responses. Its client costs
// little, so that the server is measured; both share the machine.
func load(b *testing.B, addr, request string, status int) {
	b.Helper()
	want := fmt.Sprintf("HTTP/1.1 %d ", status)
	b.SetParallelism(16)
	b.ReportAllocs()
	before := cpuTime()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		r, out := bufio.NewReaderSize(conn, 32<<10), []byte(request)
		for pb.Next() {
			if _, err := conn.Write(out); err != nil {
				b.Error(err)
				return
			}
			if err := readAnswer(r, want); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/1e3, "cpu-µs/req")
}

// cpuTime returns the CPU time of the process, client and server together. Unlike wall time it does not depend on the
// load of the machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// readAnswer reads one response with a Content-Length, in chunks, or without a body.
func readAnswer(r *bufio.Reader, want string) error {
	line, err := r.ReadSlice('\n')
	if err != nil || !bytes.HasPrefix(line, []byte(want)) {
		return fmt.Errorf("answer %q, %w", line, err)
	}
	length, chunked := 0, false
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return err
		}
		if len(line) == 2 {
			break
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(v))); err != nil {
				return err
			}
		}
		chunked = chunked || bytes.HasPrefix(line, []byte("Transfer-Encoding: chunked"))
	}
	for chunked {
		if line, err = r.ReadSlice('\n'); err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if _, err = r.Discard(int(n) + 2); err != nil || n == 0 {
			return err
		}
	}
	_, err = r.Discard(length)
	return err
}

func BenchmarkOrder(b *testing.B) {
	request := "POST /cis/order/create HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
		"X-Customer-Token: 0123456789abcdef0123456789abcdef0123456789a\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(orderJSON), orderJSON)
	b.Run("bare", func(b *testing.B) {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /cis/order/create", bareOrder)
		load(b, listen(b, mux), request, http.StatusCreated)
	})
	b.Run("httpapi", func(b *testing.B) { load(b, listenFull(b), request, http.StatusCreated) })
}

func BenchmarkBytes(b *testing.B) {
	plain := "GET /menu HTTP/1.1\r\nHost: a\r\n\r\n"
	conditional := "GET /menu HTTP/1.1\r\nHost: a\r\nIf-None-Match: " + menuETag + "\r\n\r\n"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /menu", bareMenu)
	b.Run("304/bare", func(b *testing.B) { load(b, listen(b, mux), conditional, http.StatusNotModified) })
	b.Run("304/httpapi", func(b *testing.B) { load(b, listenFull(b), conditional, http.StatusNotModified) })
	b.Run("200/bare", func(b *testing.B) { load(b, listen(b, mux), plain, http.StatusOK) })
	b.Run("200/httpapi", func(b *testing.B) { load(b, listenFull(b), plain, http.StatusOK) })
}
