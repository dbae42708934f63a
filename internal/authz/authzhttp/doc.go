// Package authzhttp authenticates and authorizes requests for the server, and has the routes of roles and permissions.
package authzhttp
