"""The use cases of agents and their work, on the same terms as those of the tracker."""
