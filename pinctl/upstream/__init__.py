"""What an upstream repository holds at one commit, and how a pin is held against it. Pure: trees and blobs come in."""
