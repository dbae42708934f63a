package httpapi

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"comanda/internal/httpapi/jsonbody"
)

// policyExtension is the extension of the OpenAPI document that shows a route's policy (H1).
const policyExtension = "x-policy"

// operation is additional data of an operation, stored in its metadata.
type operation struct {
	policy  Policy
	maxBody int64
	json    bool              // has a JSON body
	decoder *jsonbody.Decoder // for that body
}

const metaKey = "comanda"

func operationOf(op *huma.Operation) *operation {
	o, _ := op.Metadata[metaKey].(*operation)
	return o
}

// API registers routes. It is not a huma.API, so that huma.Register, which has no policies, cannot be used with it.
type API struct {
	s        *Server
	huma     huma.API
	decoders map[reflect.Type]*jsonbody.Decoder
	routes   []RouteInfo
	docs     document
	sealed   bool // the server has started; from then on everything is read without locks
}

func newAPI(s *Server) *API {
	a := &API{s: s, decoders: map[reflect.Type]*jsonbody.Decoder{}}
	c := huma.DefaultConfig(s.conf.Title, s.conf.Version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath, c.CreateHooks = "", "", "", nil // served by this package with its own headers
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Components.SecuritySchemes = securitySchemes
	format := huma.Format{Marshal: marshal, Unmarshal: a.unmarshal}
	c.Formats = map[string]huma.Format{
		"application/json": format, "json": format, // the second is for application/problem+json
	}
	a.huma = huma.NewAPI(c, adapter{a})
	return a
}

// marshal writes a body. A problem encodes itself: an encoder would check and copy its text again, and a busy evening's
// most frequent answer may be a refusal.
func marshal(w io.Writer, body any) error {
	p, ok := body.(*Problem)
	if !ok {
		return huma.DefaultJSONFormat.Marshal(w, body)
	}
	b, err := p.MarshalJSON()
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// Register adds an operation that responds with T as JSON. pattern is "METHOD /path", as in Route; the summary is the
// permission's name. I is huma's input struct: fields tagged path, query or header, and Body. An error that the handler
// returns becomes a problem: faults by their kind, others as internal.
//
// An input's Body is a struct, decoded and validated by package jsonbody. Free-text strings in bodies and queries need
// the tag text with their kind (package text). Register panics if one is missing.
func Register[I, T any](
	o Operations, id, pattern, summary string, h func(ctx context.Context, in *I) (T, error), options ...Option,
) {
	type output struct{ Body T }
	register(o.api, o.operation(id, pattern, summary, options), o.policy, func(ctx context.Context, in *I) (*output, error) {
		body, err := h(ctx, in)
		return &output{body}, err
	})
}

// RegisterOutput is Register for a handler that returns huma's output struct, because it sets a status or headers or has
// no body.
func RegisterOutput[I, O any](
	o Operations, id, pattern, summary string, h func(ctx context.Context, in *I) (*O, error), options ...Option,
) {
	register(o.api, o.operation(id, pattern, summary, options), o.policy, h)
}

// register mounts an operation on huma with the checks that all operations share.
func register[I, O any](a *API, op huma.Operation, p Policy, h func(ctx context.Context, in *I) (*O, error)) {
	// The order matters: huma.Register mounts the route, which needs the metadata of prepare, and creates the schemas that
	// compile and showTyped read.
	a.prepare(&op, p, reflect.TypeFor[I]())
	typed := typedQueries(reflect.TypeFor[I]())
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		if err := cleanQuery(typed, reflect.ValueOf(in).Elem()); err != nil {
			return nil, exchangeOf(ctx).note(problemOf(ctx, err))
		}
		out, err := h(ctx, in)
		if err != nil {
			return nil, exchangeOf(ctx).note(problemOf(ctx, err))
		}
		return out, nil
	})
	a.compile(&op, reflect.TypeFor[I]())
	a.showTyped(&op, typed)
}

// Handle registers a route with a plain http.Handler. The route is not in the OpenAPI document.
func (a *API) Handle(rt Route) {
	method, path := split(rt.Pattern)
	maxBody := rt.MaxBodyBytes
	if maxBody == 0 {
		maxBody = a.s.conf.MaxBodyBytes
	}
	a.mount(&route{
		RouteInfo: RouteInfo{Method: method, Path: path, Policy: rt.Policy, Module: rt.Module, Name: rt.Name},
		s:         a.s, next: rt.Handler, maxBody: maxBody, stream: rt.Stream,
	})
}

// mount adds a route to the mux. It panics on a mistake in the route table, so that it shows at the start and in tests
// that build the table, and not at the first request.
func (a *API) mount(rt *route) {
	switch {
	case !rt.Policy.valid():
		panic(fmt.Sprintf("httpapi: %s %s has no policy", rt.Method, rt.Path))
	case rt.Policy.Permitted() && (rt.Module == "" || rt.Name == ""):
		panic(fmt.Sprintf("httpapi: %s %s is a permission and needs a module (its first tag) and a name (its summary)",
			rt.Method, rt.Path))
	case a.sealed:
		panic(fmt.Sprintf("httpapi: %s %s is registered after the start", rt.Method, rt.Path))
	}
	rt.Index = len(a.routes)
	a.routes = append(a.routes, rt.RouteInfo)
	a.s.mux.Handle(rt.Method+" "+rt.Path, rt)
}

// prepare adds the policy, the size limit and the validation of the body to an operation.
func (a *API) prepare(op *huma.Operation, p Policy, input reflect.Type) {
	o := &operation{policy: p, maxBody: op.MaxBodyBytes}
	if o.maxBody == 0 {
		o.maxBody = a.s.conf.MaxBodyBytes
	}
	if body, ok := input.FieldByName("Body"); ok && body.Tag.Get("contentType") == "" {
		o.json, op.SkipValidateBody = true, true // package jsonbody validates
		op.RequestBody = &huma.RequestBody{}     // set here so that compile finds the schema in it
	}
	op.Metadata, op.Security = withMember(op.Metadata, metaKey, o), p.security()
	op.Extensions = withMember(op.Extensions, policyExtension, string(p))
}

// withMember returns a copy of m with key set, unless m has the key already. It copies, because operations may share a
// map.
func withMember(m map[string]any, key string, v any) map[string]any {
	c := map[string]any{key: v}
	maps.Copy(c, m)
	return c
}

// compile creates the decoder of an operation's body from its schema.
func (a *API) compile(op *huma.Operation, input reflect.Type) {
	o := operationOf(op)
	if !o.json {
		return
	}
	f, _ := input.FieldByName("Body")
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if a.decoders[t] == nil {
		schema := op.RequestBody.Content["application/json"].Schema
		a.decoders[t] = jsonbody.New(t, schema, a.huma.OpenAPI().Components.Schemas)
	}
	o.decoder = a.decoders[t]
}

// unmarshal is huma's hook for decoding a body into the Body field of an input.
func (a *API) unmarshal(data []byte, v any) error {
	target := reflect.ValueOf(v)
	if t := target.Type().Elem(); t.Kind() == reflect.Pointer {
		target.Elem().Set(reflect.New(t.Elem()))
		target = target.Elem()
	}
	// The decoder is found by type, because huma's hook gets only the target value and not the operation.
	return a.decoders[target.Type().Elem()].Decode(data, target.Interface())
}

// adapter registers huma's operations on the server's mux.
type adapter struct{ a *API }

// Handle mounts an operation of huma with the server's own limits, policy and log record around it.
func (ad adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	o := operationOf(op)
	op.MaxBodyBytes, op.BodyReadTimeout = 0, 0 // the route and the server already limit both
	module := ""
	if len(op.Tags) > 0 {
		module = strings.ToUpper(op.Tags[0])
	}
	ad.a.mount(&route{
		RouteInfo: RouteInfo{
			Method: op.Method, Path: op.Path, Policy: o.policy, Documented: !op.Hidden, Module: module, Name: op.Summary,
		},
		s: ad.a.s, json: o.json, maxBody: o.maxBody, stream: isStream(op),
		next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler(humago.NewContext(op, r, w))
		}),
	})
}

func (ad adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { ad.a.s.ServeHTTP(w, r) }

// schemaName returns the name of a schema from its package and type, orderinghttp.Line as OrderingLine, so that
// packages name their types independently. The package of a generic type is that of its argument.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, room := huma.DefaultSchemaNamer(t, hint), t.PkgPath()
	if _, argument, generic := strings.Cut(t.Name(), "["); generic && strings.Contains(argument, ".") {
		room = argument[:strings.LastIndexByte(argument, '.')]
	}
	room = strings.TrimSuffix(room[strings.LastIndexByte(room, '/')+1:], "http")
	if room == "" || room == "httpapi" {
		return name
	}
	room = strings.ToUpper(room[:1]) + room[1:]
	if strings.HasPrefix(name, room) {
		return name
	}
	return room + name
}

// Operations registers JSON operations that share a tag and a policy. The tag is the module of their permissions.
type Operations struct {
	api    *API
	tag    string
	policy Policy
}

// Operations returns the arguments of Register that are the same for all operations of a tag.
func (a *API) Operations(tag string, p Policy) Operations { return Operations{a, tag, p} }

// Option changes an operation before it is registered.
type Option func(op *huma.Operation)

// Created makes an operation answer 201.
func Created(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }

// Accepted makes an operation answer 202.
func Accepted(op *huma.Operation) { op.DefaultStatus = http.StatusAccepted }

// operation describes an operation; pattern is "METHOD /path", as in Route.
func (o Operations) operation(id, pattern, summary string, options []Option) huma.Operation {
	method, path := split(pattern)
	op := huma.Operation{OperationID: id, Method: method, Path: path, Tags: []string{o.tag}, Summary: summary}
	for _, apply := range options {
		apply(&op)
	}
	return op
}
