// Package reporthttp serves the reports as JSON for the console, and as CSV for other programs.
package reporthttp

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/report"
	"comanda/internal/seq"
)

type routes struct{ service *report.Service }

// Register adds the routes. Each report is a separate permission: accounts that may see dish sales need not see
// payments.
func Register(a *httpapi.API, service *report.Service) {
	r := routes{service}
	add(r, a, "sales-hours", "View sales by hour and weekday", r.hours)
	add(r, a, "sales-days", "View sales by business date", r.days)
	add(r, a, "dishes", "View sales by dish", r.dishes)
	add(r, a, "options", "View which options guests choose", r.options)
	add(r, a, "views", "View dishes looked at, added and ordered", r.interest)
	add(r, a, "carts", "View carts without an order", r.carts)
	add(r, a, "searches", "View what guests search for and do not find", r.searches)
	add(r, a, "members", "View how many members are active, and how many return", r.members)
	add(r, a, "quotas", "View daily limits, and when dishes sold out", r.quotas)
	add(r, a, "tickets", "View kitchen times by business date and hour", r.tickets)
	add(r, a, "payments", "View payment methods, and why payments failed", r.payments)
	add(r, a, "expired", "View unpaid orders: timed out, cancelled or abandoned", r.ended)
	add(r, a, "taxes", "View turnover and taxes by rate", r.taxes)
	add(r, a, "refunds", "View refunds by business date", r.refunds)
}

// Span is the input of every report. It is exported because huma reads exported fields only.
type Span struct {
	BranchID string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	From     string `query:"from" required:"true" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"The first business date."`
	To       string `query:"to" required:"true" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"The last business date; at most 366 dates."`
	Format   string `query:"format" enum:"json,csv" default:"json" doc:"csv returns all rows. Its amounts are decimal numbers of the column currency: 12.50 USD."`
	Locale   string `query:"locale" text:"exact" maxLength:"16" doc:"Language of names; by default the branch's."`

	// Conditions of the request. They do not change the report, so they are not part of its name in the cache.
	IfNoneMatch  string `header:"If-None-Match" json:"-"`
	CacheControl string `header:"Cache-Control" json:"-" doc:"no-cache computes it anew; else today's is up to 2 s old."`
}

func (s *Span) span() *Span { return s }

// Paged is the input of a report with pages.
type Paged struct {
	Span
	httpapi.ShortPaging
}

// name returns a name in the requested locale.
func (s *Span) name(of catalog.Texts, b catalog.Branch) string {
	return of.In(append([]catalog.Locale{catalog.Locale(s.Locale)}, b.Locales...)...)
}

// view is a report that can be formatted as JSON or as a table.
type view interface{ sheet() *sheet }

// Head is the common part of every report. It is exported, like other embedded types, because huma reads exported
// fields only.
type Head struct {
	BranchID string         `json:"branchId"`
	From     string         `json:"from"`
	To       string         `json:"to"`
	Timezone string         `json:"timezone" doc:"Time zone of the hours."`
	Currency money.Currency `json:"currency" doc:"All amounts are in its smallest unit, except in CSV."`
}

// amount formats an amount for CSV, which people open in a spreadsheet: a decimal number with the decimal places of the
// currency, such as 12.50 for 1250 cents.
func (h Head) amount(minor int64) string { return h.Currency.Format(minor) }

// headOf repeats the span and its units in the response, so that a saved report explains itself.
func headOf(s report.Span) Head {
	return Head{httpapi.FormatID(s.Branch.ID), s.From, s.To, s.Branch.Timezone, s.Branch.Currency}
}

// add registers a report under its name.
func add[V view, I any, P interface {
	*I
	span() *Span
}](r routes, a *httpapi.API, name, summary string, read func(context.Context, P, report.Span) (V, error)) {
	ops := a.Operations("Reports", httpapi.Staff)
	httpapi.RegisterBytes[I, V](ops, "report-"+name, "GET /api/reports/"+name, summary, func(
		ctx context.Context, in *I,
	) (*httpapi.Bytes, error) {
		q := P(in).span()
		span, err := r.service.Span(ctx, authz.ActorOf(ctx), httpapi.IDOf(q.BranchID), q.From, q.To)
		if err != nil {
			return nil, err
		}
		view := func(ctx context.Context) (v V, err error) {
			release, err := r.service.Slot(ctx)
			if err != nil {
				return v, err
			}
			// The slot is free before the report is encoded: encoding needs no database.
			defer release()
			return read(ctx, in, span)
		}
		if q.Format == "csv" {
			v, err := view(ctx)
			if err != nil {
				return nil, err
			}
			return q.download(v, name)
		}
		compute := func(ctx context.Context) ([]byte, error) {
			v, err := view(ctx)
			if err != nil {
				return nil, err
			}
			return encode(v)
		}
		body, err := r.cached(ctx, q, span, name, in, compute)
		if err != nil {
			return nil, err
		}
		return httpapi.NewBytes(q.IfNoneMatch, httpapi.ETag(body), body), nil
	}, httpapi.WithCSV)
}

// cached returns the encoded report from the cache, or computes it. The parameters in are part of its name.
func (r routes) cached(
	ctx context.Context, q *Span, span report.Span, name string, in any, compute func(context.Context) ([]byte, error),
) ([]byte, error) {
	if strings.Contains(q.CacheControl, "no-cache") {
		return compute(ctx)
	}
	parameters, err := json.Marshal(in)
	if err != nil {
		return nil, fault.Wrap("name of a cached report", err)
	}
	return r.service.Cached(ctx, span, compute, name, string(parameters))
}

// download returns a report as a file. It has no entity tag and is not cached, because a download is meant to be new each
// time.
func (s *Span) download(v view, name string) (*httpapi.Bytes, error) {
	file := "comanda-" + s.BranchID + "-" + name + "-" + s.From + "-" + s.To + ".csv"
	body, err := v.sheet().csv()
	return httpapi.NewDownload(httpapi.CSVType, file, body), err
}

// encode returns a report as JSON.
func encode(v view) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	// Responses are never HTML, see the security headers of httpapi, so names stay readable.
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fault.Wrap("write report", err)
	}
	return b.Bytes(), nil
}

// sheet is a report as a table with column names.
type sheet struct {
	columns []string
	rows    [][]string
}

// add adds a row of texts and whole numbers.
func (s *sheet) add(cells ...any) {
	s.rows = append(s.rows, seq.Map(cells, func(cell any) string { return httpapi.EscapeFormula(fmt.Sprint(cell)) }))
}

// csv returns RFC 4180 CSV with CRLF line ends.
func (s *sheet) csv() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(httpapi.CSVMark)
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	_ = w.Write(s.columns) // Error returns the first error
	_ = w.WriteAll(s.rows) // likewise
	return b.Bytes(), fault.Wrap("write sheet", w.Error())
}
