package httpapi

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/clock"
	"comanda/internal/seq"
)

// CSVType is the content type of CSV files.
const CSVType = "text/csv; charset=utf-8"

// CSVMark is the byte order mark, by which spreadsheet programs recognise UTF-8.
const CSVMark = "\uFEFF"

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// EscapeFormula prevents spreadsheets from executing a text as a formula: a dish may be called =HYPERLINK(...). A
// number may begin with a minus.
func EscapeFormula(cell string) string {
	if cell == "" || number.MatchString(cell) {
		return cell
	}
	switch cell[0] {
	// The characters are those that OWASP lists for CSV injection.
	case '=', '+', '-', '@', '\t', '\r', '\n':
		return "'" + cell
	}
	return cell
}

// csvFlush is the number of rows after which a download sends what it has.
const csvFlush = 500

// Limits of a download. RequestTimeout would end it before a slow client has received it.
const (
	downloadTimeout = 10 * time.Minute // 50,000 rows of 200 bytes over 150 kbit/s
	partTimeout     = 30 * time.Second // a client that receives nothing for so long is gone
)

// downloadWriter writes each part with a deadline of its own, until the download ends.
type downloadWriter struct {
	io.Writer

	connection *http.ResponseController
	ended      func() error // the reason of the end, or nil
}

// Write checks for the end after it has set the deadline, because the end sets an earlier one.
func (w downloadWriter) Write(part []byte) (int, error) {
	_ = w.connection.SetWriteDeadline(clock.In(partTimeout)) // fails only if the server supports no deadlines
	if err := w.ended(); err != nil {
		return 0, err
	}
	return w.Writer.Write(part)
}

// CSVDownload returns a file that is sent while its rows are read, so that no process has all of them in memory. rows
// calls add with the cells of each row. If it fails, or the server stops, the connection is closed, so that no client
// takes a part for the whole.
// The name must consist of letters, digits, dots and dashes.
func CSVDownload(
	name string, columns []string, rows func(ctx context.Context, add func(cells ...any) error) error,
) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", CSVType)
		hc.SetHeader("Cache-Control", "no-store")
		hc.SetHeader("Content-Disposition", `attachment; filename="`+name+`"`)
		x := exchangeOf(hc.Context())
		unbound(x)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(hc.Context()), downloadTimeout)
		defer cancel()
		out := downloadWriter{hc.BodyWriter(), http.NewResponseController(x.ResponseWriter), ctx.Err}
		// A stop has one time limit for everything, which a slow client would use up.
		defer context.AfterFunc(x.route.s.stopping(), func() {
			cancel()
			_ = out.connection.SetWriteDeadline(clock.In(0))
		})()
		_, err := out.Write([]byte(CSVMark))
		w := csv.NewWriter(out)
		w.UseCRLF = true // RFC 4180
		if err == nil {
			err = w.Write(columns)
		}
		n := 0
		if err == nil {
			err = rows(ctx, func(cells ...any) error {
				if n++; n%csvFlush == 0 {
					w.Flush()
				}
				return w.Write(seq.Map(cells, func(cell any) string { return EscapeFormula(fmt.Sprint(cell)) }))
			})
		}
		if w.Flush(); err == nil {
			err = w.Error()
		}
		if err != nil {
			_ = x.note(problemOf(ctx, err)) // note returns its argument
			panic(http.ErrAbortHandler)
		}
	}}
}

// WithCSV documents a response in CSV.
func WithCSV(op *huma.Operation) {
	op.Responses = map[string]*huma.Response{"200": {
		Description: http.StatusText(http.StatusOK),
		Content:     map[string]*huma.MediaType{CSVType: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}
