package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"comanda/internal/fault"
	"comanda/internal/text"
)

// problemType is the media type of RFC 9457.
const problemType = "application/problem+json"

// clientClosed is the status that nginx logs for a client that disconnected. It is not a failure of the server.
const clientClosed = 499

// wentWrong is the only detail that clients get about an internal error (H3).
const wentWrong = "Something went wrong on our side."

// defaultRetry is the Retry-After value of faults without one. Every 429 and 503 carries the header, so that clients do
// not have to invent an interval.
const defaultRetry = time.Second

// statuses maps kinds of faults to statuses (H2).
var statuses = map[fault.Kind]int{
	fault.Internal:        http.StatusInternalServerError,
	fault.Invalid:         http.StatusUnprocessableEntity,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden:       http.StatusForbidden,
	fault.NotFound:        http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	fault.SoldOut:         http.StatusConflict,
	fault.Gone:            http.StatusGone,
	fault.TooMany:         http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
}

// Problem is the body of every error response.
type Problem struct {
	Type      string       `json:"type" doc:"Always about:blank; see code."`
	Title     string       `json:"title" doc:"The reason phrase of the status."`
	Status    int          `json:"status"`
	Code      string       `json:"code" doc:"A stable code for programs, such as sold_out."`
	Detail    string       `json:"detail,omitempty" doc:"A text for people."`
	RequestID string       `json:"requestId" doc:"Identifies the request in the log. Quote it when you ask for help."`
	Errors    []FieldError `json:"errors,omitempty" doc:"The problems of the request, by field."`

	_ struct{} `additionalProperties:"true"` // some codes bring members of their own, such as lines

	extra      map[string]any
	retryAfter time.Duration
	cause      error // for the log
}

// FieldError is one error in a request.
type FieldError struct {
	Field   string `json:"field" doc:"The location, such as body.items[0].qty or query.page, or the name of a setting."`
	Code    string `json:"code,omitempty" doc:"A stable code for programs, such as no_url, if the kind of error has one."`
	Message string `json:"message"`
}

func newProblem(status int, code, detail string) *Problem {
	title := http.StatusText(status)
	if status == clientClosed {
		title = "Client Closed Request"
	}
	return &Problem{Type: "about:blank", Title: title, Status: status, Code: code, Detail: detail}
}

// problemOf returns the problem of an error that a handler returned. ctx is the request's: an error caused by its end
// is due to the client or the deadline, not to the handler.
func problemOf(ctx context.Context, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return newTooLarge()
	}
	// Any error other than a fault is internal: it was not foreseen, so its text may contain anything.
	f := &fault.Error{Kind: fault.Internal}
	errors.As(err, &f)
	// Faults of other kinds are decisions of a handler and are returned even if the client has disconnected since.
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			f = &fault.Error{Code: "client_closed"}
			p = newProblem(clientClosed, f.Code, "")
		case f.Kind == fault.Internal && errors.Is(err, context.DeadlineExceeded):
			f = &fault.Error{Kind: fault.Unavailable, Code: "timeout", Detail: "This took too long. Please try again."}
		}
	}
	if p == nil {
		status, known := statuses[f.Kind]
		if !known {
			status = http.StatusInternalServerError
		}
		p = newProblem(status, f.PublicCode(), f.Detail)
	}
	p.extra, p.retryAfter, p.cause = f.Extra, f.RetryAfter, f.Err
	if p.Status >= clientClosed { // a failure: log the complete error
		p.cause = err
	}
	if p.Status == http.StatusInternalServerError && p.Detail == "" {
		p.Detail = wentWrong
	}
	return p
}

// Error implements error; with GetStatus, Problem is a huma.StatusError.
func (p *Problem) Error() string {
	if p.cause != nil {
		return p.cause.Error()
	}
	return p.Code + ": " + p.Detail
}

// GetStatus returns the status to huma.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the media type to huma.
func (p *Problem) ContentType(string) string { return problemType }

// GetHeaders returns the headers of the status to huma.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	switch p.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		after := p.retryAfter
		if after <= 0 {
			after = defaultRetry
		}
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	}
	return h
}

// MarshalJSON writes the standard members and the extra members of the fault; these cannot replace standard ones that
// have a value. A fault may bring the errors of its fields. Refusals are frequent when a dish has just sold out, and
// with reflection a third of the time of encoding them was that of the standard members.
func (p *Problem) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 384) // a refusal of three dishes fits
	b = text.AppendJSON(append(b, `{"type":`...), p.Type)
	b = text.AppendJSON(append(b, `,"title":`...), p.Title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(p.Status), 10)
	b = text.AppendJSON(append(b, `,"code":`...), p.Code)
	if p.Detail != "" {
		b = text.AppendJSON(append(b, `,"detail":`...), p.Detail)
	}
	b = text.AppendJSON(append(b, `,"requestId":`...), p.RequestID)
	add := func(name string, value any) error {
		encoded, err := json.Marshal(value)
		b = append(text.AppendJSON(append(b, ','), name), ':')
		b = append(b, encoded...)
		return err
	}
	if len(p.Errors) > 0 {
		if err := add("errors", p.Errors); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.extra)) {
		if p.has(name) {
			continue
		}
		if err := add(name, p.extra[name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// has reports whether the problem has a value for a standard member.
func (p *Problem) has(name string) bool {
	switch name {
	case "type", "title", "status", "code", "requestId":
		return true
	case "detail":
		return p.Detail != ""
	case "errors":
		return len(p.Errors) > 0
	}
	return false
}
