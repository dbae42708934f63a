package httpapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Operations registers JSON operations that share a tag and a policy. The tag is the module of their permissions.
type Operations struct {
	api    *API
	tag    string
	policy Policy
}

// Operations returns what Register needs besides the operation itself.
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
